"""The reference agent: expected line margins, expectimax against chance, alpha-beta otherwise.

The simulator creates one `AIPlayer` per game and requests a move from it each turn. A state is
`(board, popouts)`: `board` is a numpy array of shape (rows, columns), row 0 on top, 0 for an
empty cell and 1 or 2 for a player's token; `popouts` maps a player to an `Integer`, the number
of pop-outs left. A move is `(column, is_popout)`. Both parts of a state are the agent's own copies.

How it works. A line is a row, a column or a diagonal. Its code is its cells read as ternary digits:
0 for empty, 1 for mine, 2 for the opponent's. A table maps each code to the expected margin of that
line if every empty cell becomes mine with a fixed probability, its `share`. The sum over all lines
is the evaluation; it is exact on a full board. A drop changes four codes, so its `gain` takes only
a few look-ups. A position keeps the gains of all drops and passes them on to the next position.
Only the gains of drops that share a line with the move have changed. Alpha-beta adds corrections,
worths and small networks, learned from deeper searches; expectimax plays its best actions to the
end.

The file reads from top to bottom: types, points and line tables, corrections, the board, the
budget, games to the end, expectimax, alpha-beta, and the `AIPlayer` that combines them.
`docs/reference-agent.md` works through an example by hand and lists what was tried without gain.
"""

import gc
import random
import time as clock
from base64 import b85decode
from collections.abc import Callable
from functools import cache
from itertools import chain, permutations
from operator import getitem, itemgetter, mul
from typing import Any, TypeAlias

import numpy as np

from connect4.config import win_pts
from connect4.utils import Integer, get_valid_actions

# -- Types. A cell is `height * columns + column`, height 0 at the bottom. An action is the cell of
# a drop, or `~column` for a pop-out. Everywhere below, ME is the player who searches.

Array: TypeAlias = np.ndarray[Any, Any]
State: TypeAlias = tuple[Array, dict[int, Integer]]
Move: TypeAlias = tuple[int, bool]

ME, OPPONENT = 1, 2
KINDS = "row", "rise", "fall", "column"
"""Of lines. Columns come last: `Lines._pop_plan` leaves them out."""

INFINITY = float("inf")

Codes: TypeAlias = list[int]
"""The code of each line."""

Actions: TypeAlias = list[tuple[float, int]]
"""Pairs (gain, action), best first where nothing else is said.

The gain is the mover's, but of drops mine where the shares are uneven: see `Lines.play`.
"""

Position: TypeAlias = tuple[Codes, Actions, float, int, int, int, int]
"""Codes, drops, expected margin of the mover, key, mover, pop-outs of mover and of the other.

A plain tuple, which each function unpacks into these names: a NamedTuple costs 8 % of the speed.
"""

Shares: TypeAlias = tuple[float, ...]
"""For each cell of a line the probability that it becomes mine if it is empty."""

Table: TypeAlias = "tuple[float, ...] | LongLine"
"""The expected margin of each code of a line."""

Changes: TypeAlias = list[tuple[int, int]]
"""Lines and the changes of their codes."""

Shared: TypeAlias = "tuple[int, Differences]"
"""A line through two cells: its index, and for each of its codes how much the gain in the second
changes with the mover's token in the first."""

PopPlan: TypeAlias = "tuple[float, itemgetter[Any], list[Differences], Changes, int, int]"
"""What a pop-out changes: see `Lines._pop_plan`."""

Entry: TypeAlias = tuple[int, int, int, float, int]
"""In the table of positions: key, depth, bound (-1 upper, 0 exact, 1 lower), value, best action."""

LONGEST_TABLE = 12
"""Cells: a table has 3**length entries, so that longer lines are worked out when asked for."""

MOST_PLANS = 2000
"""Pop-out plans kept for a column, so that memory has a bound."""

MOST_CORRECTIONS = 5000
"""Corrections kept for lines of one form in one set of numbers, for the same reason."""

MOST_DIFFERENCES = 2000
"""Differences of one kind kept for lines of one form, for the same reason."""

PHASES = 3
"""Of a game, by the share of empty cells: up to a third, up to two thirds, more."""

MOST_IN_HAND = 10
"""More pop-outs in hand count as this many."""

DEEPEST = 200
"""Plies: what keeps the recursion of a search far from Python's limit."""

OWN_KEY, OTHER_KEY = 0x9E3779B97F4A7C1, 0xD1B54A32D192ED0
"""Numbers without a pattern, which keep positions apart that differ in the pop-outs left."""

# -- Points and line tables


def even_share(kind: str, height: int) -> float:
    """Return one half: a cell then gains the same whoever takes it, and one list serves both."""
    return 0.5


def share_against_random(kind: str, height: int) -> float:
    """Return what serves best against chance: low cells are likelier to become mine than high ones.

    At three plies that gave 10 points a game more than one half everywhere on 8x10 with 4 pop-outs,
    and about 40 on 12x12 with 10 (`benchmarks.versus_random`).
    """
    return 0.5 if kind == "row" else max(0.6 - 0.02 * height, 0.2)


def _points(run: int) -> int:
    return win_pts[run % 4] + run // 4 * 20


@cache
def _margins(length: int) -> Array:
    """Return the margins of all full lines, one axis for each cell, the last cell first.

    Index 1 is a cell of mine, 0 one of the opponent's.
    """
    masks = (f"{mask:0{length}b}" for mask in range(2**length))
    points = np.array([sum(_points(len(run)) for run in mask.split("0")) for mask in masks])
    margins: Array = (points - points[::-1]).astype(float)
    return margins.reshape((2,) * length)


def _expected_margins(shares: Shares) -> Array:
    """Return the table for lines whose cells, where empty, become mine with these chances."""
    margins = _margins(len(shares))
    for axis, share in enumerate(reversed(shares)):  # from index 0, 1 to the digit 0, 1, 2
        theirs, mine = np.moveaxis(margins, axis, 0)
        margins = np.stack((share * mine + (1 - share) * theirs, mine, theirs), axis)
    return margins.ravel()


class LongLine(dict[int, float]):
    """The same for a line that is too long for a table: each code when it is asked for."""

    def __init__(self, shares: Shares):
        super().__init__()
        self.shares = shares

    def __missing__(self, code: int) -> float:
        digits = [code // 3**place % 3 for place in range(len(self.shares))]
        mine = [(share, 1.0, 0.0)[d] for share, d in zip(self.shares, digits, strict=True)]
        theirs = [1 - chance for chance in mine]
        self[code] = self._expected_points(mine) - self._expected_points(theirs)
        return self[code]

    @staticmethod
    def _expected_points(chances: list[float]) -> float:
        """Sum the points of every possible run, times the chance that it comes about."""
        chances = [0.0, *chances, 0.0]
        expected = 0.0
        for start in range(1, len(chances) - 1):
            chance = 1 - chances[start - 1]
            for end in range(start, len(chances) - 1):
                chance *= chances[end]
                expected += chance * (1 - chances[end + 1]) * _points(end - start + 1)
        return expected


class Differences(dict[int, float]):
    """How much each entry of a table changes with a step of the code, when it is asked for.

    Few of all codes come up in a search: to look one of them up here takes less time than to
    subtract. The step of a token gives its gain. Differences of gains, with the step of another
    token, tell how much that one changes them.
    """

    __slots__ = "step", "table"

    def __init__(self, table: "Table | Differences", step: int):
        super().__init__()
        self.table, self.step = table, step

    def __missing__(self, code: int) -> float:
        if len(self) >= MOST_DIFFERENCES:
            self.clear()
        self[code] = difference = self.table[code + self.step] - self.table[code]
        return difference


def _line_tables() -> dict[Shares, tuple[float, ...]]:
    """Return the tables of all lines that a board of up to 12 rows and columns can have."""
    columns = [tuple(share_against_random("column", h) for h in range(top)) for top in range(1, 13)]
    tables = {}
    for length in range(1, LONGEST_TABLE + 1):
        sloping = (column[-length:] for column in columns[length - 1 :])
        for shares in ((0.5,) * length, *sloping):
            margins = _expected_margins(shares).tolist()
            tables[shares] = tuple(margins)  # the garbage collector does not walk it
    return tables


TABLES = _line_tables()

# -- What expected margins leave out


LEARNED_STEP = 1 / 32

LEARNED = (
    b"1qlZN2nGBI0RRgH0S65N77G3l{|Ffq^al+A|NZ*-^7#M&{{sE?0Q&_4{_^?%`tkAa?DzQg0QmX!`2qd)?*|eH3l<6c3IPW"
    b"Y2NM+&@dWz-3HbR1_U7{L0|f>Q4Gj7T2LAs43G)aE3jgo{1qJ{J0rUw50S5#A=>!i7@9zEn00RUE0}2oS{Q3U>0SN{G0Pp"
    b"+!`1Str`vC?E4h0Vv7#IEk2mcTU{sRpR0RI3E0|oy82mt>71qJ)`1pxm30tEZ~`vCg^3=b0i3=9eb2LAsB_51t({s{a40s"
    b";630tEvJ4-oeY1^@s10sjL2?)UQd{Q39=2lfE_0tW8)0R036?feD!0RQs=|Mvd>`uqL+00RB|0QUR=`U4012L}QN2K5661"
    b"_Jl`3IhNA{r>d)1o{O8{sRN{2?7261^)vA{rmm`1_uQJ0|fyR0}BoY0t^QU3<&=L`~m<40R8_A4Eg!{{QU$000;j6{{-*("
    b"_xSw*@BaAi?Ed)v^!Ny=2>`JS00$oc0002~3;_8B00000?DPQf{Qv*}000000000000000000000000000000000000000"
    b"00000X_7(v61^@yV000000|@{E1ONa40Q>p?_Tm5l000000000000000000000000000000000000000000000-_rU35j6"
    b"k^4*&oF031C4`uP9=008do0PXbv0000000000000000000000000000000000000000000000Pf`Z0Qvp^2pj+a000a40R"
    b"H^|00008`vCUw000000000000000000000000000000000000000000000000360RjU8{{sI31^@s20RRL60|*5K2MGQE2"
    b"L1p2`uqF;{r>_21N;I11O)u~`~CU%`S<zz`1=9<{Qds~0{Z*|1Oo>L2KxU02LuKT1_}E8`Tzd@`~m;<`uza^00RF5`279>"
    b"{R9I0{{8~|^a1|^{{RH~{sIF41_1W_00Z{<0Q&?1`~(LB3j_ZI|M&m|{{sE>0Q~p){r3O|0|*BI2@?zu2LlKI3kCiJ1_l5"
    b"71O4~`0{#XA00aU3`}qO>{rvz1_4fPy`vV6A3jqBE1pWj6{s;K?`U3a_1_lQL{R0XE2MGlU0SpEK1_B2900Q&&^!fb#|Na"
    b"I6|NQ?3`27I+|NZs;0Q~{~_x}R+0{r~{0Q&v}`uzd-0Ra2|2L1*H1O@~9{|p5J`2Gw8{r&y@`~Cd^0RjI22K)j6{R9I7{{"
    b";K|0sQ;}{{961{R{m72mt^E{{jI3_yqz30|5R000991{R9301Oo*J0{j01_5A$y`TqC;0Q&a+{sH;`|K0=u=>-4+4*&oF0"
    b"0Ra900IC2008^_0Q>m>00000000000000000000000000000000000000000000001o*I0Qdm_0to;B000CA0093000030"
    b"{s8>?000000000000000000000000000000000000000000000008pp`vCh300ajB000012mt*000000`TGF;^Z)<=0000"
    b"0000000000000000000000000000000000000002@@%{k${{RIO000002>k#90000000000{r~^~000000000000000000"
    b"0000000000000000000000000000R#U30RaO71OEU4{rUj{{{;pE1OovC0|EvC1ONQ}{{jL90RjT}{{sUA{r>#@_xb$#0R"
    b"a8}{Qdm{0|5d51Ox;E0RjO2{{RC50s;L3{r&+10|Eg20RR310s{m60|Na2{sI93{{8|21ONU1|Ns2}|NQ>~|Nj8}{s901{"
    b"{Q{^1ONL11p){F`~m;^0R#aB`}Y9-_y7L?1OosB0sRCB1P1~F0sR92{Qm&}{rUm<_x=3-0ssF2{s#N||NsB~{RH^<`vCm|"
    b"1OW#A`T+s|1^)m7`TF?*`T_(42>ts22LS~E00aF21^)s80{i{|`TY3%{r~*|1_A&50ssB}|N8*{{Qv|11ONH}0{;I2{sR8"
    b"^008>_1N#F1{r?630tWv90{s920s;O200I5_{{Q^|0R95~`~L#|0R8^}00935{rvy`{sjL21^fE~{Qv_00S5j3{s8&`0s#"
    b"U7|NjF4{s9030|5a70tN&8{Q~&^|N8&``Tha?`~3d_`~Ljz1OWB{000dD0002_{{a63000000RjL3`v3p{000000000000"
    b"00000000000000000000000000000000D`VIj10{{dF000003;qBB000000RQ~}00;m800000000000000000000000000"
    b"0000000000000000000{PG0=^Z)<`3jhEB0Q>*|0RsR400932008;`0000000000000000000000000000000000000000"
    b"000000QmC+0Q&p@1P=fJ000UB0RI9200003000IG0000000000000000000000000000000000000000000000092`2mb;"
    b"A1OEX31O@Z=`2qm|1ONX50Rs5^{QLg^1ONg5{{sR5|Mvm^|NjB}2LJ^H|NsC00RaL3`2qj~0Ra2}`3C(5`~(37{RaR60{;"
    b"5`{RI00`uzI_0Rs8`0tW&E`~Ch00t5p50sR5~0R{pJ00aR70RsF30si|1{sR310|Np6{r>>~3jhxR{|E#B0s;j70s{X22L"
    b"J{H0Rj2>0R{vJ`vm;<{{8y<{sI8}00961_WS++|NZ_02mu5D{R0C5{{8;}01E&Q0sjaC{{jL8{sIF2{s#aC1OWm0`2hw52"
    b">S&5_Wu3)`~Cs|`~U#}0QUR+|Ns5|0|)^G0R034`~Lj_1_J~8`vCp>0sjL70R8v_1O)m0`2hd<{Qm+10RaF0{s0620|ov4"
    b"0RR5|{Q?961pNd500993{s0670{i~`0R{sD`}+X>`vLz00|5Q_0|W&5{rLd@`TYL^0s#R3{{8?1{{sd6{Q&>|{rv(20tEd"
    b"7{{R620sa64`{NS;=KlZ{8UO$Q01f&80s#O3008^}00r;>0000000000000000000000000000000000000000000000Q="
    b"(;0OtPy6&e5l000g800IF30002|0RRQ?000000000000000000000000000000000000000000000008{?1OWZ=00RgB00"
    b"00O{{R6100000{QLj{>Hq)$00000000000000000000000000000000000000000002|`2+y{@&E$}0000082<nP000000"
    b"Q~#_0_p$&0000000000000000000000000000000000000000000000|NpA0RaO80|Eg700I650|NsC0R;sE{{a94{{R91"
    b"00RR70ssF21p@;C0|5d6{{jF10RjI30RR320|Ea700II50RjL70|5a7{{a8~{r>(0{{j8}{sII50s;a80t5d5{{jL9|Na9"
    b"20{#R60s#L7{{aF300aO2{sI30{s8{|00000|Na2~1ONX7{{H^`0Q~~}|Na600|Ed3{QUg^0|Ea5{`>#_`~d#{|Ni~~0RQ"
    b"~_{Qm#|00aL3|Ni{`{r~^~0RR2~{{#R31pfa1{Q&&}{r~;}{{sR4{`~y?0RsX50si~{{`>&`|Ns8}0RaE}{QUm_000C30R"
    b"R5{{`&v>`~d#{{`~#{|NZ{~0RjC100061{sH{|00RC10ssB}{s8{}{{R64{r&&{0RH~|00I601Ofj60RaC20RH;_`}_d@|"
    b"Ni{`0ssB~0RaL10RR92|Na5|{{RC100IB~{{8^||Nj611O5H~{{a5}{r~~~00aU50RaI20RRN`3IO>600asE0000C{r~_1"
    b"00000{r&(1_y7O^000000000000000000000000000000000000000000004^$Gy_0ssUG000004E_KB0ssI20R8>|1o!{"
    b"|000000000000000000000000000000000000000000000{qzF>{Qm$10{{R301y8F{sI6100960008*_0000000000000"
    b"000000000000000000000000000000000R8j>0Q~;|1Oos7000mF0R93100030{{R5_000000000000000000000000000"
    b"00000000000000000000932|NZ{_0s{j5008^{{R9I90s#O70RRI600IC40Q~*|1Oop20{;O61Ox*D{{sF10{;L60sQ{|{"
    b"Qv?20R#X60|5U3{{aC3{{sB~0RRC2{{aF30ssF30s#X800IF30{{O20sjI20ssF10ssI5{Qv#{{{a60{s8|0{{a61|Nj92"
    b"{{RC51ONm8{sI90|Nj8}0sa2|0{sI50Ra8~{{aO90s{X51OEa50t5m70s#F2{{R600RaL4{{I5}{{R000sjC40t5gA0R93"
    b"1{{Q~~{Q>>{{sR320s#R1|Nj960|Em70R#U600IO7{{jI00{;L2{{aC40RI01{Qd#{0RR310ssR3`~w320RjI4{{jF5{{a"
    b"8~{s8~~{{R62{{Z~{0s#I10s{a40RQ~}{r~{~0s#O61poa2{Q&|2{s8~}0s;U6{`><1{{aF20{;R41OEX3{{8^}|Nj610s"
    b"jE}{sI9000IL4{{a8}0R8{~{{jI30|fv50Q~_11@{C1`u_m`2mk;800{U1{sI610002~00sL1000000000000000000000"
    b"00000000000000000000000000s910Q&y`{|Ep8000R10R93100000{s0C000000000000000000000000000000000000"
    b"0000000000008;%0s#L000jd80000A{Q&<0000000s#R2_y7O^00000000000000000000000000000000000000000002"
    b"_@d5z;{s097000003jF~80ssI200IF3{`dd@000000000000000000000000000000000000000000000"
)
"""Corrections by the contents of windows of four cells: a byte each, in steps of 1/32 point.

Learned from deeper searches by `python3 -m benchmarks.training`. There are six sets: one for each
phase with pop-outs left, then one for each phase without. Each has ten tables: two of windows in
rows, by the parity of their height; four of those in diagonals and four of those in columns, by the
parity of the lowest cell's height and by whether the player who makes the last move may pop out of
its column. A table has the codes with an empty cell in order, with 1 for the last mover's tokens.
"""


LEARNED_WORTHS = (
    b"004~tQU50Y1OMm#!v2~5asEgCGXB~CdjLiNBLD{g@&D8RvHy_&ZU0~YQvvk=+W@`*ssNh+g8*p&P5?3hD*(3vUjat}L;*J"
    b"eF999_3IX>3;Q-+P4+6dctO2V5xB<5TtpT6`lmUeSi~(8#5CR1P3IZ4cG6F9GDFPz`8v-c;mI6}(PXb#4Z~}`0q5`7=qyn"
    b"P?xB|=qkOGqerUJnN;{y8v7Xu#yB?CYM`~t=T&;sfL3<EU-R0DAXlmnmx!vi)02m=@cIRjz?k^{H{+XMdtCIn9eZ39IET?"
    b"2&!wFBz|7z9EDZ3LAB*#rOp{s2k=iUFhnq5-o3paE(D9RX(m8~`=}i~-jH`T+t09s(5t=>ew!`v9f?$pAY6kO95{&;j-V_"
    b"W{-codNs+O8<EP^#Eo8o&mZ6>H+ov-vO`z83FbFE&#OvFad-CssZHz`T^|$$pJh8t^V-;fdB>pWdWxF>;Ve`2?Fl{Yyn9A"
    b"mH#jRzyK%#bph1@{{aUA_yK<b^!-c!@c)Vc{Qy(}z5xUR76K6hq5+ou_x`8<O903KDFL1V?g1PEAp*PsG5wwXR{sS6i~#o"
    b"lb^*}=2?8ks&;jZEU;ZQi-2ZI=;{a>{(E$?zJ^}y&005BxO#c=C-~Olmb^bv9{r$WBiv7v}WB?)n?*F|1hyPdqCI9CBr~Y"
    b"{UR{`w+y8wy+TL38l{Qu4Wk^fcyDgWaEd;v!RCIR^X$^fANbpSj70sz|oV*>vH%mJtYiveE&IROs=*#M&eegNA7dIC!VDF"
    b"O)s?E%RFqXBRMJpmd4P6O})!~&%PhyrK=RRS>r0RqthvH`&ZW&=F~A_E5l>H^dPzygy3W&%k9GX&cMv;&+2gac~>R|7x;B"
    b"LnyX-vY1%TLd@+A_NWu_XFkw(gU&smji(VNCox;)da%?vIL$4kOY4OVFW`2Jp=#%000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000006`Peg8rK2L"
    b"H_dj{aW$ApY9@p#8i6dH^>7{Qt!Ni~msnA^+z7qW)_BRsjV8&H$DGUjQip@c+dBivLOf6aV-DssUsHH~|C!&j6SJZU8p``"
    b"2WQJivm9a`vJiLnE_`3F#!qz)c}_OWdI!m(*lwLSpp&g{Q=4WqycdOHUS0!r~_aFAp`0HwgQ0yS^_r$1_I3ip8-1r^#iv9"
    b"g9A_l9s}tD(E_6aYyv<6!~}o@MFbNB;sde+e*;+qHUj|z*aBAt6$RV`tOR`oPXrzW`UA-WpaXdW`~|%Qh6Pv!D+T`q&;+g"
    b"oe*{PbEd&4n00000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"000000000000000000000000000002mk{B0{{pB1pxd1`v3a>?En7%000{R{Qn97{r}<r{Qm&}0092~{r?C60sssE{r~&_"
    b"000F56afGK`~RT-1pov90{{pB1pxQ|`~Um@?*IP(000yK`2YC-2LM|D{r>;}0s#E~{r?F71ONyC0|5O0000XB4gdfE005c"
    b")2ml2D0{{j90|55_`Tza@_W%C>000yK000UA`~T|y00000000000000000000000000000000000000002LJ^C0{{pB0|5"
    b"2^`v3m_`2YU@000mG008&@2>@FF00000000000000000000000000000000000000003IGBC0ssI20s!>?`v3m_{Qv*|00"
    b"0pH0RRU8`~Twq00000000000000000000000000000000000000002>=2B0ssI20s!;>`~Uy{{r~^}000sI{{Q;_1pp8L0"
    b"00000000000000000000000000000000000000000000000000000000000000009RL6T000310RSfe000000000000000"
    b"00000000002><{900093`v1ZI00000000000000000000000008~^|S008~}2>|H-00000000000000000000000002mk;"
    b"800093_Wv0G00000000000000000000000007XSbN00093000pH0000000000000000000000000000000000000000000"
    b"00000000000000000000007XSbN009601pwLq000000000000000000000000000000000000000000000000000000000"
    b"000000007ytkO000C4|Nkoh000000000000000000000000000000000000000000000000000000000000000007ytkO0"
    b"09601po&C0000000000000000000000000000000000000000"
)
"""Worths of pop-outs in hand, then of what could be popped out or dropped: two bytes each, in the
same steps, learned by the same command. From the last mover's side.

In hand: a table by the pop-outs of the last mover and of the other player, and one that counts
times the lateness. Of what stands on the board, if the other player is to move and if the last
mover is: the weights of the features (see `AlphaBeta._features`), and those that count times the
lateness.
"""


def _learned_worths() -> tuple[list[Any], list[Any]]:
    """Return the worths of pop-outs in hand, and the weights of the features."""
    numbers = np.frombuffer(b85decode(LEARNED_WORTHS), "<i2") * LEARNED_STEP
    in_hand, features = np.split(numbers, [PHASES * 2 * (MOST_IN_HAND + 1) ** 2])
    tables = in_hand.reshape(PHASES, 2, MOST_IN_HAND + 1, MOST_IN_HAND + 1)
    return tables.tolist(), features.reshape(2 * PHASES, 2, 2, -1).tolist()


HAND, FEATURES = _learned_worths()


LEARNED_NETWORKS = (
    b"I4OsZ$dLmd*Q1)A<tn2nAEVo&!;!<OSFI`^F|d8EN39>LgeTu1N+s|n1R)JDlq7$lB&JHLlOCy}y{N|@OsR(`$D3HJsiYq"
    b"!=b+jo&#V5Wn<OtJ=bzA`@e{8l;U-Tku$<B;6eQXphbeZXe<=f{?xd-s{;mq6d?w$eUnw^pdmB}hDWJoxOQk~@h?x(hjh>"
    b"RG7Mr~yA)`<)jUgndCZcAfGN<Au%b8IlDXwKMM6EF@LK>%{C7^2|%_iEX-V_q7*BU~evLimE5iB>LN}z8YdY9EAvYKqAbs"
    b"<S46|9e)hb5(@V<23cJRXfHf1gCC?5BaLQm8(qOPpAhWSHup85fr%_#h!6dL>(^v>ULj4k@6XU6rJ%kfm>`gQec3*Bw(Qp"
    b"chJ{Ostuz*(H~o@1&QU@*>ZukEcr(Ql5S(C>{ExaG=+eGcXLIi6L|+&7WMSZJE4~G^ArG!LCXq^rEgN8lY?)i>lruBP16b"
    b"$0@C}fu&d+LoP5OWRr8SX%L1YPpdnp2`w3^38{S{FfiPxLM}nA>m)EV#UH9O;vkiuHyjkF3ow%-cBiK`w=jmV#;;|ii>xI"
    b"n44!Q&gQSYAUJz2LK{oOzgQ-rmBrK_{ZIPZT@-#!Kt0~*8NH&)(swIFlxGuRV4=x_0X&|Dkf~+tyteT7;fE&1(z#ga`Ly-"
    b"R>ho8(EW**!aERMvWJR9#MsvHX>o}Sd4PMxZbxRTizFBqYntD4M{)e!0!lq38cBapHiE{#K>4W9NPXPNvJZW&@46rXw;R}"
    b"^R>BbckD5+Rcvv7jKGLyRSqq#FYi?jh8uD;+7Bm!WK!U>s&803yht<fU$@w<w0A52RBl=Bi{M{Uxg?2_cyzRGQ+fS}GZ(K"
    b"9()1Fsw-)#~!FETBS*@7p&W<3n)Y-2#?4xJSa${xg9L0ous0m-zB;x3aaNYAsIxd0iEWpf(=Bl=b#oT9V)gd&@G~!xu6xW"
    b"j4QmOA*!LIy`#mbdai~g6Qxw7hbd#L3MQ#42duHHyQVrU_84uXiYdse*pkYrsUbHho1;S}cpc{&SRN%7<F9P1a;SkNi=vy"
    b"Y>!b0E?<hN<Xd)mfm9JPNe;n>704yG=#Hqcg^CV-T#2{X%aV)qc2PHWohNP%2`X=tE-k%9AK`ZmA*diAz0Vvcdl&}!0wWb"
    b"rOi6K*%bsuag2Q0@Wmnb8hZ?BUnI3NQiaWaxA<fZ)>`>I4FZ6|A`uq-JlbSdH}xEggFfE)N2gszgP?4*M*u&gyHPaXCqy)"
    b"bK;t}VDL?y2G;{*g|tl%tCp^{H^BBOx@V!6b38OC}#Gi71n&7PL01WUZ*ER4uVC`mE6^PcyJI&aK0&*smfXMyb=FWwER%-"
    b"5F)6cd76%R-<GqHmO4{L^1NId8+s(K`auKMJy36!!6=0P%v91xgHHE*)SKN*dN%hk1eUEHK>6w0j!lMrJ^#KW2}v;7O5*3"
    b"o-L0d4kxiF)ti4Wi=|Smo2%@sUa0ddQJ)Z`nwJTk^d|wRXQezJb(pB7bDHd;TAs^}tDk|Siy=;*%@5!ZBqCIx|C*;7G^6L"
    b"11EVk{euJSZ1fo-zA*oXw51quIn4NT`hoR4)N21OeOBFvO@h736@tyM;>?1FwZlj2fV4`pqQ;*G^S|9)+G$1Y;#wMU4Rvm"
    b"^S0Du4h0Du610Du610001h0Du4h0Du61000000001h0001h0Du4h0Du4h0001h0Du4h0Du4h0Du4h0Du4h0001h0Du4h00"
    b"0000Du4h0Du61000000001h00000000000Du610Du4h0001h0Du4h0Du61000000Du61ysnxio+Rg}fh^6YPb?^{2`nbIL"
    b"n?f*r75H=#3mOk8zdznBB*UC=_n2_x3RV>F)Z4!wVdUt(6RNQiL(W(J+<a0%p^Y?v#{kd*s)Z%5UIhk)39-s-7J0|rluk-"
    b"2O?LweK2{UNGe)0F|_9_q^CGA9<2YYm?RA&xG%A+Bef<jZ!W>ANwM58{Igaq)iC}n#;V{l4Xhrtys;K5Ln)xMRkV+_Ke#?"
    b"I$|?CQbhMSI0xx*839p~1P_o@A=(NKq{UUs?_!xh-mNLmOV7P*wo-NcT@+!=>-7deXXd)4-(k@peupX7JQYTua9jr~T;w)"
    b"yWc_1_*P#}sY^&*%k<ex*K<EJtw^O@(U;wVh2p(JpxTB)3w128rr4KR%$bS00a#GGCtAE&;te;Q&ehafg7%&G1i>aF~+jH"
    b"tAm1tssNm!FEM_aLpMCno2u6s(O1d?9wON}ix2{ikiFCMck=uc<C15gRF_qA0hX)Ts!lmmQgz0VH=QnwG|;p`ab6keKHyM"
    b"=TL2?;$U)s3Bo0KBqP%SRXknVJ03f#v8^Y8>E0L7b=J*zaX$IXszCvS1WuTUnO-M1}j&a$)Jj*Gbux)J13i{9HeI=Bq6}0"
    b"Q>Eypf|Ye7b}JC9nWdy70;6#%rY6oT->VR)(4`fhoTw|HBq9;0JGvUiY`peC7C|Juc)@VRiN6E6<uu*6R>SSWFu@G91i<n"
    b"%OTW!Pf<Dnau{b!l<U(e^2RR+O=e+Sil0<92L%4ZBN5axV_`kV9y2FjT^|d%U1i+*|#=w_C#J`w65X6W<3O_eF;YP_jp1#"
    b"{OMZfe!-bG6{PCs0{`!{906EDX$bunwUKOhLPrZX%t+^wrEKexxQ?=yEBORumrFEHgEmbNoCo-Y6{O(q~Rw=6QWq_NsJjk"
    b"Y4ISuY(iCNf312`d1$rnG4^XthtX>n$m*IyJYnQz=d$L$*LEQ?1^c{<i8SIkAScFRoa&i7v3N7p|x*5go88ur-gVBe^p*O"
    b"*h{-xVf|vl{MctNFF*Z={3D9cQmmqG^shUd@wq%B&bfJ3ZN}F2P@2`6{WbcFRm;xSFzx^y|TrwJg@pVyE6$YeyiiFmNfe`"
    b"$}f~J8oKs0<hDkvohP5Q$unrH39Xf@d9Z;ir?Ju|`ZOIg2QYs%?;a>I`L*V$jlAzYXg`|4dc@YpxkOI7>&UJ`-ZA&KN3g="
    b"iL^e~swLnuw_dy85*+%8Xsl=wj3&;gQctBA=uRWQ+9X%aG(5zs%YsL`B?my<dbV<0y7Qt%7r^AxJ7D?Z^qeS1mkUhS_jJJ"
    b"<FY{UdOOF1w_)V-8J5ySw!jyL|o2E)!lm#}KKA~n`F&bYI-ow-Z7t3PSH-MF$nZ#<|$Wwkay^*Oe}jkh8|$1G$xS3AAClt"
    b"J&k!nf8rG`y>_PP}A5i!e1bMMIH6nmvcO@xf<3;<$misXdu41jH6RFTxVN2f%tU<~7f#q&VHczqM{W1-nSUHbF-?syYrf@"
    b"3rHtx;EUey|Q$(pRAX*{k54p-8;BG%`aR$Pb6Ka3`2mYL^0eht~cK|QLUvmm$vmX&#uR^{y42NY&v?g8M?qS)3nvD4l$Ot"
    b"OE&1K$uyxe3_DjrgtKTjGP$(3=`Nxr9=@8lYrFlx1UIClR5*yKEIv8Ch&e&78@qEkxHFQpY94?jbfrv_1DsElp`@=Pjvx&"
    b"nsG>3)b)K^u?-9|W)gc@tW+N=7q8MeQA)V<Q{GX8`C7O<<;UyxS-I?DNOrsAF=bU02;vvbVft9f$!5uyvxSbmuQ5zAXP@A"
    b"Qj`6dPwbfIMr3YS<J0Vd}ep`I?D<C&77#Gx^qIisB;Ew7_6cr*2|<)~aSu`UTRSf_$8-?2NegfAE^4k+=ci?9r)FdU8}HL"
    b"y~%n5}{#JG06yPcaiN-KXiQgCk>>PcTHVp{G?MP_5juA}}Q|<gMec05u7vH#2Xo!zckD`ZB7qF&dsH3%JLum$0L=Rw_uY+"
    b"qKxM@+{3W(xnoxxt~F&nIsD*7$oi{IH(jT%&L;ClpRGX7oLWuprlct>n4w?&=}Pw8kJqE7o`9k4<%5g&aQ?k^(Tp?{;ZUo"
    b"V<R=9t|E*k`72Z?>7@0jbtfyM$|Oy$HIdgPZY1+07_XEkI35?I^RIIt9w!DYXDA*aI54Rt&?WDrrW6{d&Y`|2T&#JhC?En"
    b"aIjgpy)g{FzZ5#oqYb#=?Ule+vW~nEyS|nN^Ln>`4@1ks}!X-Z;G${Y4@t4vi?4qG1468Asvl}g>_9tH*Ev!!|fvaaJA*z"
    b"wCN+GzbGMy(O)GybpFR7g*6g2y%Wu!eV-y=4wXQl<91EwvhsHN|q<uZyZda$Cfrmh$x%r1j1^fA}B#xaO9HZ_u^wW;+nmo"
    b"OkDASH^hOf<W+EU_>qeX@hDaHmnSku%(?1+>+#?5_Q&)+six5;D&*-Y!M1#WC+E&MyM8EU=)ms;WXJ^Dzu9ek(Mrt+<D#B"
    b"{6R&8nzm@CbqV+2einpIir3QO`Wfn6C&)J{Gah892e>mW23N^5ulO`OCfd}K8!=2-WA=T#GGv(&>yg#t)5>HStOE=*CAV?"
    b")}3Y-N~AXt8XP$o@tBwrpQJ1!;+7AU3L%x8Lxdh6|C1_}br-lHQyrZXxRG^~XPCL6pdQ{BeinJ8VxxZ$S&h9R93?uVpr?$"
    b"j>#|>%IWwKH@3K8G9V#lR#V+lkx2E*2B^*{Q93%`Jlr)hlRWUNKtTn@+FD-sBVlf`A4K-3O(kh)SzO8+vt1oY^2sE>(ajl"
    b"D{S1PD0@Ud02eX8TLcd0D4oGiww02YCcjjBAce=k3xouc`zpff?P%&70GkFiyxim39W$gEMUZ!172-zZ<K3?z7{yDUJYo1"
    b"U#G*(RT;`>XJ)H85Qqe5}$S*(xQa6{^@TRV$3C<SV)>`KFK^sG7v53#4<T<}afwIV>5bhb+M+6{QlWX(kXVEHM9|4XWF!g"
    b"&-l61}kSO^C;~sq$CNhRiD-yJ*)kmw<w7)Zm75>k)L2F7N8j-O&o))Jto_%yP>_HTqc^O(j)|^EUb4b46TZd=&vxCXC}(0"
    b"%$)ThOsG?=nXWvi39Y9aQz?9s;he;$rzmtOk)m%RJFUwgq$I{FV5$Qgot&O39-9%Zd9J^u{j23Mt1r>4mnQP1Z6p}2E-Ut"
    b"}C@p@e4kGlVIjw*!jVMZ~vmUXcG%95(iW_||sVi$J&?zV<+OLN!0<KG?w5**eFRR}uA1achP8`0h1g#F9y`{P%Nhyb<GM{"
    b"2AE~z3YkFAR+P^n+8C?qkaQl>d9!=Q4b)1M6;%CDR-tsuLgU$F@&Dl9vfU9Iw{3!yfo45tmG8Yq_}g{ZipTO^gH{imBI@h"
    b"{&d&YudQ@hs7(sH;XB7c2Ih4W}EGk+Pwxbfn^)kEj%`j4g&M1*onfNgo%XAuXyNq$H3c36d=xX_eC~iJ}!QE+*J2Iw<!io"
    b"ur;6yDt#1b0~4ETP!RY&#&hz{hf&zK&ZVe`XOc_?xyXV6DSU>KO-qDrK&6`;HjJ?DJ()J2BnfNNh!N9Dys$~Ppzjc!KuHl"
    b"EUay)u9&E-M=Z-Mp{^RP*DGNx4={KqQnI_K*r0GIR4^<tGN^zpdMHCGDy&N^O0Weni=}!igr!|C6|H-wccnV9D71pDH7~?"
    b"3$*nOe0W51PM4*|n{UURt#3Ey#3Z!==JR)AA^dusr&mYC2{-~lON~^W38KHEGoTQ;AzN2$60H1F!VV^=Id!?wKZ75`^Z>{"
    b"toKcv8+2bmHSzZjRGS)G6<-5Km1Xc6Eje3V`!CnXr1#U`L1m?p6w?;AQUPa^mvU8MUYuB9`wI3$v-C@;C8s*Wm@>KryDYo"
    b"jZyQ6}9WlcYP1E}5yPYa}_MRUE)CxS$H3kR4bf<07ORxS8)D7nJcBzMX9)=Alre?<Vf0Z5^JXZjvS%b`&Y4=Az3Z&>Ga4="
    b"%TNtHmuDaOdcDc6dO$)37x^D^dz(+XB-_Ut0r+Qb}EsjNuzX~?V=PQik%*-s343a-6Y^CqM+EHehVw2Kc8VHX_5yccA&f<"
    b"nwe1<M5@mtZyU!QViXk}&7elAP?;^Pq@kjwNEwGGRg8(BPzP<Ix0c5#8Kf1RK_?m)5Fy_t9v|-@I2>~#U9B4+Wu$~BLLgB"
    b"pNTcSbgs3&DL8P@R>7Y5LsVOa{ek6w_4ISPiFQ|a8AC=}KbDveLBPPU`D=cxPODgN3pQEWP&Y+Dkyc$TY!I`?Bx1mBLN+v"
    b"6n>Y_xNQKIuDTcD&QKq6rxv?U;}CaKV&VyMF$(ILdJ51^N$nXphH6)dYA`7C)J*e2GlKcZQol_-3mF{HpP@T7k#h^)OPTO"
    b"PP0E1b@x2bf%(?wgbxjFuxN2#T4Ix13O-JR}sJU>Ojc0u`VkRGdMW8xS5EMwaj-J)A_Ig`OOwd!=!ldKFP2DG=U}KpB!0&"
    b"KLxwzZ`awuNdc{c_2O%x*;v5bs;f=i7en61EOgn6Bw+NqadlHOd&oU_!{{c|EG5$ww^Mm+oH^#)Rx097o{Gk8X2D?FeLdY"
    b"TP8mtax0vu?VrIVo+US`fUQ293o#|6PaNE%kRYL@MW9tC4kmmjzo`7AeV1J+wH>J;fFn$x2&gGA1tJZn;w<Btej`P#tQ<2"
    b"PSS#Ep!l?TqFNjW}5ic(*XpuE0fgLog0;dF`$D{+B9HnoYDktbD1R&a}N0AjAC!jZ_eV}!(La45+A087Wv!tIc;~B0Yg_D"
    b"JiS0l!y<fbJgP$k%?6Rk)n?Wk}dRT&B(8=VF*Dj%>PM=0hPuB4Ewm7<`io-PTg`YiO2%bnvP|EXCbs+4n?mnh9AP@ixmK_"
    b"x^dB`Nr!Sg9qiuq%wHz!+qtU7>cXZ>V!5MWaq5GN*>GUZQ(1z@4t6u`6GuFdX|5>Z8ynZzVvZvY%BL038^vH?Vf69xQs97"
    b"#I*FfvM}Q*rZ?}f~bEN9u6R%mZhkh04PYb#1v^GL9V7M@G3y4$_`?wA2gIG9F+X2JE%FT=qTkN8KBH0hoyF@z%*5`^04qC"
    b"_$Uach#>-~Y$QuBGcc5-H6kIQx+OBL^eOQOuB}s~<EBNSHmszdO(bZmDx&))Nu+kHT$^vA-J^{!IHq(Za-bEg+Mqfp86E?"
    b"skule(2q~!@rmUM9vMf2ON+Qi0HmnaO1*lUhJD^gnQ=I0YJR%95%o~)O;TWqCwv9y~Q6ci6vlwF~N|;=lE}$5qlOpq)>zT"
    b"ME#iI?0niu;YMIRodqltZ^R~a=XJsheWRhi}$=#bxwn3GMXxf36k*QHwt86d$Qa2(N`#w22)Dy0dji=on(OP&Ut6_*8<<&"
    b"+C1kC-JMY9kFG4WKfh0Du4h0Du610Du610001h0Du4h0Du61000000001h0001h0Du4h0Du4h0001h0Du4h0Du4h0Du4h0"
    b"Du4h0001h0Du4h000000Du4h0Du61000000001h00000000000Du610Du4h0001h0Du4h0Du61000000Du61G_tL&O0FX+"
    b"w4MQ+S)>uI$1Y#35UEhHgDoj8pei7+b1Xuo@vGu3Ei98H?JOrTyOhze_#Gvv4Jn48Ke6buu(W)zm9gBhp|e;sow1&(p09?"
    b"jCX+#{Vk)q$Gb;Y7Eh)#XvMiJ!3aO?q;iQACqoR#3EidV)Y#@&x*sGQ-<*C4khb!qSEVrB_H?K^vA2CBM-lEhmXAL;4aIS"
    b"$bfTZ3iPpC4n`m#<g{+`z>9HxP@Tq>csrnXkN60y!C2C=!Q45c=tx}(@0IwuV$__6CMl&&Z!ax8GD+OcM<`YiadHY}E~vL"
    b"ZUQY^}7V6te9uwyxeKxu}w;yDL60JCuGIt|ihWNTi`BbRG92j3w)yZl#W<{v!pZ1~Am7swt|a(IG9T3oRC~rLL2#s3Zcfr"
    b"XKYh)S-o|q^ac<Q7Yn)m76XltD%^n=dY|Nw<tQS$tQ3bz$7G>_NYs$=A|Pgm#rR{J}&_+XPL^UvL7HPDWfqhu(1Og$fn1n"
    b"hMg}Z+oc|$Z6I(h0;IjDb(ohXq^E}<r=@nG@iDa~f1Wm@prDB-=P1b{aGXV-gA&H9OQZ=KM<RqIl%vHSL8r$i(;L&E#ibu"
    b"5Ij5zi+Ne3MBB=!)Kp|SB<tqIytf)LBlC8-u#H*I4z@A^C`K;HZp`mA>bt9lFYm1d5$Tf01<2`FdNI%~`{lc}v=*2zAtUV"
    b"brGQjl0Gr+;S4#RfEoWSHgX2Zb1q`gl+13`a30zptfe#FQ`=0*3$mqThlEjiu9hPr4zusqK^az%`})<xz%iN^RoPQM?-)4"
    b"=dDV8u$jmqho#tHO4~rA3%XAV90WH@-W-K)yxAK{&jz-z(3uj4oBI&NWc9II#0K3bg^R%{KHjm#}uO0XM}r7q-7On6=-eL"
    b"9s|PJTQnf^|Q-33^aPHzb`?vsw`i%RJRhi6}Oo*GqYKyL$RN<*)TA)XEj2%fwcRy2{<V?tTD~3KrA)2emGdSE-$*R-mVR*"
    b"L$Pu-yQ(g<t1EgosivVg^|6&4F*dI-tg%fX7&P`Irz~%*n6gzZsjnEKl`NmF<t#;}BQC(HAukrMzcpC0-m>ba5Unsa)+#Y"
    b"KCN`5aS~O0pKP>zy1~r{Afv`?C<s;2C3^9%^YOI4O7N!&~6tVd$e6nLOa;itPvn!7$?jhMKEw{ilD8Y9zpRL`%8>+g<4Ll"
    b"w~twsGs=)tJMw?Xqf*|T>wibM@ZXFzei>^KWOG`N1muD~m{rNpK%aYg^cw8BM3yUC8ha5!K_>OL>J&pj;3s>S}bT*8d0{Y"
    b"O2;7db35N3&=tJV~=Z)5V^-RzR#oAjNXW)xPdQE=Co!T0KKV000000001h0Du610001h0001h0Du4h000000Du4h0001h0"
    b"Du4h0001h0Du610001h0Du4h0Du610Du4h0001h0001h0001h0Du4h0Du610001h0Du4h0Du610Du610Du4h0001h00000"
    b"0Du4h000000001h0Du4hB&c2-Ml#>Dl(C^S*f6*^EG(lh^e#9k8?Q<<=RTIVNHjJh&b3!H20g7g*DYkcI<gZw^&>%;?K4$"
    b"1hPd{$+_9Ie9-ERXD~OV?#65^Km?6kOJ+UU9LM<n+kGEvF>Mg!4f3t?Z0WqgDO)X}xkT`+5tTZApJ-v=NqBs#TqMXK=0jN"
    b"BryrbZtA)=g_B`CWiycJL$f1Z9JvznZu<Q_vJx*ph}Um)6&N}bXfoF3w%L7bDN11DdlAfgK)p{3ZAZ5WOq@ukn4j}oI1XQ"
    b"cceDyS?YJ)?i1zL?-4At1UPV4}Vte4@6R`5-(Q+NQClg(4jscqWFQ02@V_Gp8`ImNVkBXRjGAsWjCkH?fs42eM@`c(7)nj"
    b"j$dlTqdC+RWk=J!7uhL@-JkmYqMlC@F-BSai3<Vxv<fq^E4N&{<Qk1^cKdm^DsUdq$hf?O|a3kFf(H;;V+IUk*ut-4lsf#"
    b"H?+hnaV{k?iY;8N)wJ0ws;ka4U$7%DV<(OlI;aGob(-C$+?z8g6eZ>%rzz+pvnEHO)S+LhJ(6P;>!QRafTDP+RiU^elp!D"
    b"_HK+tC8Y%ZAvZ(>5h#`NTwwT|f6DcmEG^Qi0jwWy<f|~H9g{^cbL7}rIh9`ui<0suBJ0NB#(w!ugaG*x2x-H3}rYvHnT&L"
    b"HhTc(RAI4nG+g&R{1<QQYAMJhEaJEn>#ASe_tqo>U#y(CbfE~4zM3MV2aN|=hH1|}Ma7ofSNVWi8SeX2Jq2c>EyrKD*oP^"
    b"J5!zbIHO6|RdGRjT2k_o*Ntav-KG@-FwKSfi7!lq(&b+8}8t`J}iiT%q!#@~sDyZXLBOVk|hUMzI63ez6Oo39qFrZ!BOhk"
    b"}qPhTQFZKBd{eii!B%~g{M&_*fB7y_oxP>S+v%(>#TDi95J;l!l;WdEGcCrV=BfiNibY2{jc9H%BgxV>amrwHKFaQyeO?O"
    b"B`}PwX)P<Y^R)ONvn{?Sl&|Kp>a1O?f-6=YJuZDMtrnURpCa#>VW0SpuAeI;x*2vHZJ|k=u$mtdM<5rOe}kKp5S;U#!5K6"
    b"ZKAhGUtQ8)l1(XXOCLw<$2%J3$*BRQJ3=Lk8W}MO=`<eY5*$+M(_nbDI;i4iIFcr<AJt1<H?;VSnZ50um1(c?a5s>1YHKq"
    b"rS0U!gL*AO9$0jGd8D6(fP;v|~0o2?PAD<FZc=`a~9n=SXO)GCKEEiGd#DKN+@K{4kgFC}WI*fjO9)u?l*kTMrC!>)=f4k"
    b"ooP4<uTv1RzB!CMgTE!>g|>6eq-~lCf^2BrglA;I4kFq_H_B(5}R-o+1OS4Jv6Bn4$<U8!FGPd9Yiv7q3nyuBp(JOf6|6@"
    b"~cuX?4b*=Yc6!H5w3lq(Ja9!x~^WY1~68sJ}uiIJ1TUiK%y_Bt}1J#W~=il^(7}Qu%$RB#Vy+|_br{J2P?xPo1-2ql`Kab"
    b"fvGJnhAu}gJ+8y8WTS{EKrIX}Ca;e#Hlls1vJU<zQ>wJ9o+^AQI4Dn~hpPJ@R3+4;J*jXh`6;`YqM~k^vX=B9*RBq!A+aJ"
    b"Xy{ayiTB-@9UL|#&F`U_>Tq*0PD55)^qpemRhOA5$5eyom3?TX_6{u<<@GfvE?WGSZXCp+ZeW@Xz^C>r|MIN-Q<g2wTOqp"
    b"AxoGig5{*<sQJSYIF52+cgO(T&dOt4uYdMGccDkR(^`6g5;r>O}mGpcP1<t@l9mag_KYpuwv46UD`J0u3HB^|~pI;~EqTd"
    b"wS-Ehr(M|0G$OrY1e3l%<9$G_&HJSg-i3bf`lmAf|39=p890x~SPF!l*kfVIXp*)~Hb^5GQt}_Nc_5uOyG9lPSe12&Jr~T"
    b"d`lE1SJ%kUZ@%#i7SIBGb?nOv>ijIXq+1*94Xl-y{Hec$FHKNvZL@St{r2eh%6Z#4Xz(3r=qqdoF$s4pr5;}LM8m0SFboE"
    b"rlo@{@uC(ju#xT<wxw_<KrLsipe!M%$1U8V(ybIJ1F^lN3=&Bso27`Q9H%X&BpoQGrJ<1^h9ia*LZaR->?g>k3mLyHj;ak"
    b"TrKuUIDztwm6s3VF6RPl>W~g+rIV&0{2&quBQz;fFR5I?K_p;KZvZK5p@g&_LXer;OUM<8co2*eL6{|xf$+Sr_mnG{bMy-"
    b"pR3oE&=I<h&TgDi6^eXNHe@)DyJeW@9-KBm|r$ST*NzobT|xhNtU11LA3H6Q|~dKro)yQm2p6&x3t86}q`q^wYe5}f>@b|"
    b"xSqgqy{p7$Zd~Q=S8;fThZ!R}NSf=%@}TqamWETdw33izw?IJ*VB92rLFLOf5E`-640X8LK=c5R}9nET`k9?;@?QGM?R_I"
    b"4P*9F{Zhp%p@8lTb$jhv8vpi&?tx)3@RQa;vozscB=#~J|kYEYNcJQYnN#g-6Auh<sb(q>K{=jrlp`HvL|UMCMYr)1{Z;y"
    b"f-4515h4<tp)B1X7$AfuF{=h1GO1`CY9PuY45*(SIx27^iy!F_0vA~)1)}Y&6d>A@Z6Wd_dL$AftgOQ#Y9&W37@Y?s(lHM"
    b"k%&K7?;h;AsJ}pZf7aUg~8L51#W2*le<RGP{?jIH=?5O#t7AnChIjv)<HKp^Jj38K?5*_2IR3hTCS~5W+>nL-e{i&v+p`a"
    b"P5&aPl1t*ine;u$NY{vL9j39LRBGbu(b>l$RRY9v7-a4f)_v8=x&DW7tl?WZpwN2zKcM4soMTP66eF{O~De;%m}(-{jeSg"
    b"iz@TO+WT9~?5R$f=Z^%B#1l52h2GGAH{ad>-wjL7X0}lO#Q*@-WRGn5TH8_^#fOw69OBl%_Bt;w>~MQZ1CJ${fm~h9?jpf"
    b"vavVMVJVxHLP?iUYUa+Y#34>9i&d8eH=WMK%_4qQ<RdN6(MM(ekhxzCK$UR`=sF#Qz$YPpP<1YYZXqUy_6K1O{x);;HAK!"
    b"5|JJolMr4U*_~4)q@(7fm7)M13Lwv#D=XNUnH<@tUnv!wm?<k9bE6OzogD`hjvV=<q#n+p50!2i;~2dnT`RE|Got0B(jja"
    b"h4WO)~Mx{ESTBB2{3nb8}dn{g_P$R>bUnw!I>!+il-=^a$aiQ|9SE$sU2PdASQm&6G;2lI76rzElwwdvqW~9R@BCCcWnI="
    b"A-*eC~@6_)KHgsTT2f1G@oLZ>Mwzo@L41~K@f-KIY%9Hktvy07x2vn1pltECJe2CN||7NMG`*dPI+pQEJ}W2E)3=_aBhFQ"
    b"cC!T&YJbsh}U7W~YKCf233@Orc|+lOOD?-XScZW|*0!V48~&@~ns`NgXUHPAEtr@TE(krko<3f*h8q9iJVk&93_@1ES9<="
    b"Njms=OuV84XchQUYawZ5v@9=Dk^!XeWih_gs=iAh9nyn52NIyK_$8|v7}kDa;1+b&MZ_TEF7#QTBx|BShVb+*|I6ANv?pV"
    b"p(+NjhO`$bF`d;Ox0^SkKO<VHF|7G0uBEl7#H9%u=Pz!X+Aq<#pDD4dLa%hN<RAkku%vtwJS+#Sl&~bLE+C&KekZJ^x1X_"
    b"|L!|nra4>BvlC6&(-!YAs#+vmXBBK;4MlsN)1DzzEjG*5s#19o3AEURe$FIC7_o+;zg(-<3IV?yRq#*u^9GoAUJ)D&##w6"
    b"CSi59e^da10R-=r^>dni1ooh#a^7Nn&jx+^=V5+YR%yDQ(Vm@Wb)pd+2EG_13oFd=lIsieCWxF$29f|h0=<($2pD58uQUz"
    b"xO^uchA|(4Zcm44fPt8J#<tJ{i&+%OM=7exQk<1)?1%7@zSW-k8poUYVYr$R1Iop&B!#ny6BqyBS87l_7o#eItJyXQf>iS"
    b"E0tE&m`=ndYgWSBO+NS(IG-0oSKdu8=XR+0Du4h0Du610Du610001h0Du4h0Du61000000001h0001h0Du4h0Du4h0001h"
    b"0Du4h0Du4h0Du4h0Du4h0001h0Du4h000000Du4h0Du61000000001h00000000000Du610Du4h0001h0Du4h0Du610000"
    b"00Du61`mw680xSZt$16A|{w4ddLNd}R*B$J%Rx(yGq^6%LM=tD@MVa`kk0}nJ3ACCs5-Fo3|1IdFJ0TA+W3?EzWVlfppR&"
    b"c8w=5Pk3NWgno~3!QBCKDr(l8|~iY;5CEi!qm<upGu=rc7lgfO=(Z?Q8dpfKMasxWe>Wh{=GvZ#Hr?W}jC7OiS7Pqo>vSt"
    b")rikSWD8MztF$s-(6tXsFjLqO@nN<*SOY?k?^!3Z%QPLNi6R3bu!|xUgC-QLbGs>8GMB8?dal1}!M4iM95w7O=#lu{8Crn"
    b"k*)?c&NY^^e$wvZ76rRg)Bs?TDa)6KC{}Y;jrweIWFokv8=74Mkw4UdL&k>T(Es6KdaZGqam!Ze5V2^1TdVeZzu<*N+TGb"
    b"0Ik}Nz#_;g+pa$<|13-*-H{w5@hR!4D=T)I+?t>%JFH@;Djk?8BP)le60XOU^e+LLF)9hGj4b*kP@o~1wJZWESft3DA}cN"
    b"}hOHE@Ss&Ue7q5^TOsII8n=gqWmZbHZIW0}3ekHpSHYGA47Nhm3*DsU{tEU#F8>-}<ov5lBB%dZJ&8xMfy{29i*_^>5{-2"
    b"Ypp&1UEc$#6Pf+&|P0VsDYW~4@{91av7v#v26$Q(B>Qz*q6ysU;T-K>|SQypoWNUlJuEU;xN$De2%Xd*lv+{vZCmp)8G|1"
    b"^6@QpwQ3;=|s-E=0n=QpyX+D#6OWC&G2e6}H(#;JY3=#X`uof=DY!;JkoAwZb(tH#H2(Ewwp1zdiWGR=_XDiAaJ)5J<m2&"
    b"_owSmB*z!b;dVGlFLQA<;HYE8B6{;J3DN=TSZGjuSTIa`aB%KtVMspfiGb;R4`_=B{ll66RDE5<Em9S)w32WC^qja(63)A"
    b"e>T}QkhB9d2ec2kakR)arY?Lm9J5t98!OYVVlk1f7Bxz?p0($<BefqjLNi0LVWO$EV=?lz<1-((N3lh+{U{qY8KmK>lP|-"
    b"y=QnG&ZY<U^+O7_;(YC8IawR^oCoiY16Pw942B@r*hcjL>sI|DIXEGb4n<)9E>8+e7?WOK0JTUsO95fm<a54iY+$`C!{W0"
    b"mY+_W*XN3aPrDl7anB{d&3WioTHnW`MHdNKYph^`wmORgz35in6OYPHR&2C%gxt|YZ3sjY7_6R}1lk(G-qQZv%4KCgQ-G)"
    b"SU7Gd`rh`9XBaTuC-S8$e+~oW>DE8A*6T13(@^zCO%IsJoWKjzDI;qQ6AJ6vr>bN<OW?v!~lVnm!UpBEm(pb)}a@7DazTB"
    b"FZnvCCHG!bh#YB!bMoVS46bPKuVQ3=|=g&=E+&X3%_GMIK&{s12wrlwZ6GSM#W-6000000001h0Du610001h0001h0Du4h"
    b"000000Du4h0001h0Du4h0001h0Du610001h0Du4h0Du610Du4h0001h0001h0001h0Du4h0Du610001h0Du4h0Du610Du6"
    b"10Du4h0001h000000Du4h000000001h0Du4h|1rBKi#i~*4570jgErEjJF^8Ujj_!=&Mbc=Ha$JE^)1UWgRK~;-Z*TjU9n"
    b"EE>$)Sf!=R_JC@{vX12o7p>Nox*0Ich+O|`=>@h$T@H>SZl956PiFtleU8>yeUhM~T&X0YSAQ?g|^C9X)NgRx1pvpX`kGA"
    b"i@5LA*YuA0;dxucc+A$(tUS51v4oL?vgPRHKp^q!S4r0-i&n=$C&JIu}cz+=8K?2%l$|4}pD+jhv;T*d+3t%a>RpiKIdad"
    b"Xhexe4`ei4i!ToR-LDy+oM>Rm!)~02$;MZd?SgR5uEBIDHie=e4p-^G@+fL>L0rp3ZN*LDHmU%qA~cUx2_zp>a>NiR50i#"
    b"v#QprX|dxn05bk2QL+lIP%r{6<1scWW~~n`TCb<A-k=t(qAeY<rWr)A=Bl(b^)k1xGPTO5EvnTslC3+TiK)!B+Ol1)gEL#"
    b"Ho*j6qI30T+3pTeeUbeO_4lS3il_&YHHnfi*eJQA^sH~47v?xlLnye3*dnIKpNuu+cU?g-HQzQbI5u$4>5hoq4IS<Duk|<"
    b"m(rmff*EGcEHrX=E+aGt%SXD527lO5Tk0irb?@EzeJS)l5p5vCogL?tX2VkPsafGCfkL?+*?VID0V5~#+iHl)9(^CT%Cx}"
    b"%9L-7MrPh#uFXY%px0peEEL4zB~F4<Capm#A7J+by^o!I_#Vxh26cAFYrr`Y4*9jT{HANiZa!y{d?)xhwLoyPSikT`i#~L"
    b"!@UewW2JLsh>KZxEima@}a%1qOK1q;ic-MKP5B}E-2|JeJ6FPkSJTK1TW#Gr=TvPXe1J*cc{H7E~axNl&mqJxH1DR9<p(;"
    b"L$J}Qy)kpC-!0B1!!l&CUNJZ?1+b|tK(E6nz^%k6el#+r6sOrTn6PrSA+mNV7%#CZ$E;!~z9BS>7ozhi6)ZO~+NjI1)S4S"
    b"L=dW(E^eJGbeWwepurwqpuPaKlrnE;X{+=E#gRQ3~g0VNOnI}N4`Xr2|I-zcnJ{uyOUz`-2`5wU@92^#z5uh*_SrKm(_#y"
    b"?KWtf<cs~Yl>91ts%LLps{P$PLAD-qS5OCWP4Po@EzF`Tu7Gmv(kub{*oHyYTR4kW&w7$%VvT%|Syx)Xb$>?4s84y0fn^B"
    b"Xgf5QhGg2%ME1d=@ezrxCH3)}W7>X0ws78n{X)Gc8=Q9k+2Ze=%jSs4%jludh9&WiH<>@)O6fEHNk{eIS`6&Nu3>b1b7Y4"
    b"=ZpgMl@eG5U#;0K#N+a#wfI}QZr|xR5kaq`Y^_>(kz!Q`mv)ZZ7t%kmarZ$Pq0k0RXS;_A}iXUCaH)n*sT3Fe=0AlP%Nyo"
    b"zpvM>(4+S$?VtB4G%2MmX(>^!Xe|h+@T(k~7%BB4jI6w_)-Cd=j3E{;b}TTgR;gp8J1b<TsVJ{1)TXK|d#ng7yDb+kuPL>"
    b"qJQ;H-6&2(xW+<O5r5u(nA}&}d8yADEpcs!LjU;|8`>h%-dL7=UvM9SNn=PxTL7G!6^Bw1?93*rkKCHPVjV33g3L;;wcBY"
    b"aoBOtsJAFAgX8Y|2&TCGi`E3BEHLz-+WysIJ}q^n$>SFX(<?5fZqE2O=gauLI&1)s8(N~f%+Zl3s}nkOMEAeg_bx1_wN_b"
    b"U{sy(A_r)1dh*ZYsJYMWltX9IR`km@Pc6DWL_hETxL5f2Qc6h$OQo_9RTDpC#fd>Y__0pB>vLDl0uHm8_&1C8?9Fqo|FWQ"
    b"m8Md9i>F5Q>7iD>aHZIM<%`=J1B!BP9DE0g`ZC#?57eWOROcRC8Ktx1FSJD&Y#hvdnRorB&`*n@h7vZ!j*KW5h@m(I2~`K"
    b"4IM!p*Pxv$;UTZ9Jg9u9d??nX6R0jC1}f?&1Sr*-RVCh~nWpn41tbX`f~oVYv#SxJCaT&Zn5&Mf;VYOadZ-y8NUUHdhbMm"
    b"#W*NSyV-RDdKqllN^q<%${T@~<e3v93%A?jJL@X4na4V;)sV?KI7^!q2kgYc*QkWPWpQf%NDj+8)Wh_Lm>!<fFZK&_8cCn"
    b"B!Y@v^+%cprTX|DXKAEp+pnXGFsDX=B6zOqNG;HWdRY$`jZ^Q;6NPq2b9RWUNBR-N!9y(OZp=_L~}3pJA^w=teDB$&J|9k"
    b"ht5PArus6)`I-!nDk_k}*!MPO_q|$S^)H@33DmxG5PZ+@vO*0001h000000Du4h000000Du610Du4h0Du610Du610Du610"
    b"00000Du4h0Du4h000000Du610Du4h0Du610Du4h000000Du61000000Du4h000000001h00000000000001h0Du4h0Du4h"
    b"000000Du610Du610001h0001h000000001h000000001h0001h0Du4h000000001h0Du610Du4h000000Du4h0Du4h0Du6"
    b"1000000001h0Du61000000Du610001h0Du4h0Du4h0Du4h0Du4h0001h0000000000000000001h0Du610Du4h0Du610Du"
    b"4h000000Du4h000000Du4h00000000000001h0Du610Du4h0Du4h0Du610Du610001h0Du610001h0Du610001h0001h00"
    b"00000000000000001h0Du4h0Du610Du610001h0Du4h0Du4h0001h0Du610001h0Du4h0Du610Du4h0Du610Du4h0001h0"
    b"001h0Du4h000000Du4h0Du4h0Du610Du4h0Du610Du4h0Du4h0001h0Du610Du61000000Du610Du610Du610001h0001h"
    b"000000Du4h0Du610001h0001h000000Du4h0Du4h0Du610Du610Du4h0Du610Du61000000Du610Du610001h0Du4h0001"
    b"h0Du610Du4h0Du610Du4h0Du61000000Du4h0Du4h0Du4h000000001h0001h0Du61000000Du610001h000000Du610Du"
    b"4h0001h0Du4h0001h0001h0001h0001h0001h0001h0001h0001h0Du4h000000Du610Du61000000Du4h0Du610001h0D"
    b"u4h000000Du4h0001h0Du610001h0Du4h0001h000000Du6100000000000Du610Du4h0Du610Du610Du4h0001h0Du610"
    b"00000001h000000Du4h0Du4h0Du4h0Du4h0Du4h000000Du610Du4h0Du4h0001h0Du4h0001h0001h0Du610001h0001h"
    b"000000Du4h0Du4h0Du610000000000000000Du4h0001h000000001h0Du610Du4h0Du4h0Du610Du4h000000Du610Du6"
    b"10Du610Du4h000000Du610Du4h000000Du4h0Du610Du61000000Du4h0001h0001h0Du4h0Du4h000000Du61000000Du"
    b"4h0001h0Du4h0Du610001h000000Du610001h0Du610001h000000Du4h000000Du4h0001h0Du4h0Du610Du4h0000000"
    b"01h0Du4h000000001h000000Du4h0Du610001h0Du61000000Du4h000000001h0001h0001h0Du4h0Du610001h0001h0"
    b"Du4h0Du610Du4h0Du4h0Du610001h0001h0Du610Du4h0Du610Du4h00000000000Du610001h0Du610Du610Du6100000"
    b"00000000000Du610001h0Du4h0Du4h0000000000000000001hxU6KF&Yv8pb+Pre{-1oLX(OpFU#wlK{wpIWu^^kANhl<"
    b"x{S_M?psOGrfGBgXOs+<yte?juGNiYnvz)7+8LGIg;IDrrKqMWN<{T0v9;niuNT@)npQY&>MIj%eIw)qUW}wEbRS^{|YME"
    b"1@B&V(^IW3VL(IkkS6(D-3000000001h0Du4h0Du610001h0Du610000000000000000001h0001h0Du4h0001h0Du610D"
    b"u4h0Du610Du610Du610Du4h0001h0Du610Du610001h000000001h0000000000000000Du4h0001h0001h0001h0Du4h0"
    b"00000Du4h0Du61000000Du4h0Du610Du4h0Du610Du610Du61000000Du4h0001h0Du610Du4h0Du4h0Du4h0Du610Du61"
    b"0Du4h000000001h0001h0001h000000001h0Du610Du610Du610Du6100000!XDnI$s~s-Bo$bb)TXnccd2NWd8<yVL#Yc"
    b"PoT7Iuh$%rEE-nU~LMz^=Dx>Ng3aDV6b|XzM+A314d8iPc#is`#8KVgyVV<C+)+h_BsE=)`*r?boN-FKERhb8+1S|0+M=3"
    b"udhbYCT2A;a4DJ(}Usi(vTbf`Ze4z5|IB%QsYwkMjNJD_orFCyTnfG3lwiLBO}S*WToRw)mvxvmu`(570ThAJecPNNB>1S"
    b"AtCPpn)UvmmZ4QmhFmim9s~8>d#9S1WcdL?o%HYMpf{z#T*-(;zFXsV>+cZYs2xCmmIwkF0SiW+ncs+bE5t(x-YboFp=&@"
    b"r}Byjlv~A54{>aDm;@v>b*R`eY3W~Z#<a5G^-&wp1y0lzBSXkf4>&J-n^YWB{*3<FgTCAsJU&#+py6)DM5F{+rAY%$3OwL"
    b">b}*kgq;?xO{KL%T)T5Il)P3a`!Vx8yfmFbUAfV<wnDf(cs$4}?6luJ6GZzq;;aw2J~+fX000000Du610001h0001h0Du4"
    b"h0001h000000Du4h0001h0Du4h0Du610000000000000000Du61000000Du610001h0Du4h0Du610001h0Du610001h0Du"
    b"4h0Du4h0Du4h0Du610001h0001h0Du4h0Du4h000000Du4h0000000000000000Du4h000000000000000000000000000"
    b"000000000001h0001h0Du4h0Du4h0Du4h00000000000Du4h000000Du4h0Du4h0Du4h0Du4h0Du610Du610Du4h0001h0"
    b"Du61000000Du4hheDyjnZQ=T8N9N@<2`Xf-o$vmM7*&+dA&ltSGa*ebU4sG8bdrgFGRt?U$yVYdbxx`YDCdLmALJwb;3eG"
    b"-ohh5h{E~5eng_ZM?jgxO2R9}q&agx^EG=s6uo-E+r)G!>Og3=Ld9{!4aCPpk*(3bW3+m@&N3mu`@q>SO}-jDk3O?DZoUY"
    b";Ej1Irnl)lL<**ew%stCH0iq2#^E{KjletJZXF9^QxVN!65H-ZU?7Wycj<qVfg*W0r13l=t_dww}z&8E1I<5~q`Lw09#;$"
    b"d|rn#&&6ui^9nlU=N{J2LpT00QA;yg1v_`Ei>2|X7!%Q_0G;kX|<YdT!LDKH_x%ri2r1vo-6Zah&qhd`r07_j)dp+FnJIk"
    b"9>^T{|GJ6gE=6guFF61UR0sfU;#kl{<2{2sj6~W<6fJ<G8OmF*p`D`#NMjOsi}<B020i!7*&Vn5;3ioVEizv^+w;06t4S#"
    b"=OJ3_Bz$Rj<X!STDxyP<h3q11tcS#vY|$t(i}<)iJ)ehub4?B&Yk^|%$cVh`<?@r?w@TTwi|MsHz2VE_W-7xTa-s3(;PgM"
    b"Z6W%ZoS}c6lcJfDAE4HqouA;I6q(;1_?9)IiJT%J`=Gy?eG{i3i<#q;otL#Abs!<3w3DcyrkJ^%!5x5*#GJkv@19M91|$W"
    b"o<|yQ&fg;7HdofKl8LQMS3Md|-3akLJrYz`<$tZ~|YA&lVl&L4E)Fw2r(4&zh+cTCc%&goh1f&);`7fCvMzjed>MErxPb|"
    b"2x+$aUK@G6=lh%q52_bbP$8mKO`uP!epGqu?$F04ka#w|jmp|otF05U=@N-Yzuf+SX?A179#t)%-LGOD7f{2~A;lc`3aDW"
    b"YAab{7Mz+N7bXIwWK%W~&jVx-763RV+*_m>y~&MJDm745Yp$G^V(yC#-aw&ypOQg^=bd4H!u+Ste+x87255F{nGBX|6=8%"
    b"%%~bma3MKryi#zP@}>oCnQUuQYOfp+npJlY^7D8@hc;$kQ7WHcACwry(j6Ud91J&siCbbW1Zk4ftDh#zooby52bIanIiq7"
    b"b1Sy2^{e$I*q|k=5GaeKNv>xr`YE0%fTZ}TN~dzCDy(uTIHeM)bfZZffG2t>MVwTyK&j0mJ}Mrn?<OKE`;%%bx3KFX@2@P"
    b"aNu&?08!%xhov)B8qp)h7!!J@ShKawfhA;`HxGMmqhNz4)2`Qkg6|j}8sVqma$*a&UR<xF@m9#dp!YVf^vZ^|;yEB3*;49"
    b"{-)-Dk!MzIDYJSQV8<tKQs<ta+7I4sJpN-eH1ZY@!$3Aa?Ek+hvD+oT1u>91Cy=qsk1%p}pN`xN0A@1aPL<`^56Vw&6^Vv"
    b"+QmyqNQmrx3Cgkr*M537IX8k(4)<cZ%m0MiY}1Fcg`cJcs@mjGf*g5*&o2+!~IF6AJ+n6&9?M_KdccgA^>7Z5vPu0jC}sY"
    b"nLYkLmzLKsS)oQx|mQIV31rNxsWCso1V1{jFm+dV41I*ysULBG_krMA~6!7{ig#khpLaJcPOnKWh`%)nk=;=S{ya2Ev##("
    b"gCo)&5S*>4uaMv=A0Wc5vn(np$*y{?4lLF!-I~{$_c7G2H>*mn2e8zx1}s1%)+z6x2Q4MFHMG+%udB4N11SWmITm21jUOe"
    b"f7c)8-1*^a(0;W;60Du610Du61000000001h0001h0001h0Du4h0001h0Du61000000Du4h0001h0Du4h0000000000000"
    b"000Du6100000000000Du4h0Du4h0001h000000001h0Du610001h000000Du4h0001h000000001h0Du4hGO4htt(d1O`k"
    b"IUzMW}Y9AfAV)<tS{YV=bwq{;5bImZ?A;$|AKMxu!Crzo$7PlOaW?q$i`M;j0;_+^rQF3#KM3GN+ua)f;fCwX7+j-<}kx<"
    b")BU}hopd>#wgw>11KS({H%f{2(CCRS|+QY{UWa^0xCa+I4XUth^&^V@fgggLm?z8h8`jt`JQZ@)vKeM->080&!|hS$0$`O"
    b"qpme2Ypfrj%d5jK#G&b>HYMmQd#ksn0Iu|(bEOa}Pb}A->Lw5_4y;uspswjGf1Oo^3@Kf(MyT&EXQ)-AMXGKnEUw)teI`G"
    b"sf*~uXg(~GII;&YHoTv_{rWZ3Li=;^>cb}l5AsCGl93*Ha$1m9&geOg<AtscmKCDKgbS}B7IIPg7^{iT@@vrxlqOKmU{wJ"
    b"Xw10{i`v><M#-799Pg&>fu+$_(d*OKBTSR|gS%9`#df~iQI{;gIe3Z&(zgd~`ue<!CLzNyzMP_g8u_8~s7Y^lwqUMrud7%"
    b"KiM<tLOEgR~#7G$5NKVkhaQkt_i#!lvaX^PxDdr=(G*2%-I|>#(q=UZPAae=n1)rYJR}<|>CL-yvPET`5YbPbvJN93_V=W"
    b"-se0fG4UZ2)BMA?5XH2aic`2ff7@uB&=Ggk0e2;I<HqC6)nvz;iPwwN})2JF`f%0T0Z2x6uzuHJHUpwWV~y<3p~%d9YO28"
    b"gt*td8^1?92fIPJP(L8O=D7;Jvp>1NJUnVU;5y>DXS^T4%(pv0Q@LP2nn<I&**mAY<3E_W=Q=Y!)jU=?ki0;-s756^bGf*"
    b">$GoaRrMM_M5x<i=ySRxtG&&=|lRgi)hds<Z1vE**zCFCWbv_EgZMpuvQagh^^Su>7m%e?#ueh_g<v3-%tG$gr4Y*u9E5l"
    b"1dtGwPqow-y!?YR`ZV!1N7S3Q=xg*{kGB0sf4_P6OgOuSA!OFFl_)H(#bJ3zuXG&#z*zP=>6jXNW`N<4MLH$TL>={j{e89"
    b"7Ni<hmz2r#tASW<7So8oA0rS-VWRojM>zKRe^br#%X~YrovLNVZ%&kiPJ~);%P*csM{vl|3@LLAbcO7d;KZ6T7XtJGPuW+"
    b"P*49FG&SK&pd0p`?_+t8aM+#OS)S?Cc2$PmOJ1$k~xLI+P4fiy12zXQN^!F2DuHkZ8!}%p+Nz>COHp5%q??15x*`u;yg3D"
    b"e8cB7Hn{XZb-3p}hr@ru@w>viBs^%jM!0c1!@5DYl0bI6AV3~KU^%BZY`)pJ)3-*s89C~@SU71sioQ3v5V=vg2f7ly5VZ2"
    b"VRX<0z0Y2<FV>f;{(zp`6@;bh{%{;uoTDm*EhC59-f<AmU3c3-%6ghS>"
)
"""Small networks, two bytes a number, learned by the same command.

They add what a sum cannot express: how several things together change the value. First come, set
by set, the weights from each input (see `AlphaBeta._inputs`) to each hidden unit. Then come, set by
set, the weights from the hidden units to the output and one constant.
"""

NETWORK_SETS, INPUTS, HIDDEN = PHASES + 1, 33, 64
"""Without pop-outs left only late positions have a network.

In games, one for the middle cost points, and one for earlier positions gained nothing.
"""

MOST_MARGIN, MOST_CORRECTION, MOST_CELLS, MOST_COLUMNS = 100.0, 30.0, 144, 12
"""Greater numbers are cut to these: the networks have seen boards of up to 12x12."""

NO_GAINS = [0.0] * 5
"""Zeros in place of missing gains."""


def _learned_networks() -> tuple[Array, Array]:
    """Return the weights of inputs by set, and those of hidden units."""
    numbers = np.frombuffer(b85decode(LEARNED_NETWORKS), "<f2").astype(float)
    inputs, output = np.split(numbers, [NETWORK_SETS * INPUTS * HIDDEN])
    return inputs.reshape(-1, INPUTS, HIDDEN), output.reshape(-1, HIDDEN + 1)


NETWORKS = _learned_networks()


class Network:
    """The network of a set and the weights of the features, as one product of matrices.

    The last two columns are the weights of the features and those that count times the lateness:
    these sums may be negative. A hidden unit below zero counts as 0.
    """

    def __init__(self, chosen: int, last_moves: bool):
        hidden, output = (numbers[chosen] for numbers in NETWORKS)
        features = np.array(FEATURES[chosen][last_moves]).T
        self.weights = np.zeros((INPUTS, HIDDEN + 2))
        self.weights[:, :HIDDEN] = hidden
        self.weights[: len(features), HIDDEN:] = features
        self.floor = np.array([0.0] * HIDDEN + [-INFINITY] * 2)
        self.output = np.array([*output[:-1], 1.0, 0.0])
        self.added = float(output[-1])

    def worth(self, inputs: list[float], late: float) -> float:
        """Return what both add for the last mover.

        Rounded, so that it is the same on each machine, whatever the order in which it sums.
        """
        self.output[-1] = late
        hidden = np.maximum(np.array(inputs).dot(self.weights), self.floor)
        return round((float(hidden.dot(self.output)) + self.added) * 1024) / 1024


def _learned_windows() -> list[Any]:
    """Return my corrections: by last mover, set, kind of line, height, column, code."""
    digits = np.arange(81)[:, None] // 3 ** np.arange(4) % 3
    packed = np.frombuffer(b85decode(LEARNED), np.int8).reshape(2 * PHASES, 10, -1)
    tables = np.zeros((2 * PHASES, 10, 81))
    tables[..., np.flatnonzero((digits == 0).any(1))] = packed * LEARNED_STEP
    reversed_codes = digits[:, ::-1] @ 3 ** np.arange(4)
    rows = np.stack((tables[:, :2], tables[:, :2, reversed_codes]), 2)  # a mirrored row
    diagonals = tables[:, 2:6].reshape(-1, 2, 2, 81)
    columns = tables[:, 6:].reshape(-1, 2, 2, 81)
    windows = np.stack((rows, diagonals, diagonals, columns), 1)
    exchanged_codes = (3 - digits) % 3 @ 3 ** np.arange(4)
    return [None, windows.tolist(), (-windows[..., exchanged_codes]).tolist()]


WINDOWS = _learned_windows()


class Correction(dict[int, float]):
    """The correction of each code of a line when it is asked for: the sum over its windows."""

    def __init__(self, windows: list[list[float]]):
        super().__init__()
        self.windows = windows

    def __missing__(self, code: int) -> float:
        if len(self) >= MOST_CORRECTIONS:
            self.clear()
        correction, rest = 0.0, code
        for window in self.windows:
            correction += window[rest % 81]
            rest //= 3
        self[code] = correction
        return correction


# -- The board


class Lines:
    """The lines of one board shape: how codes and gains follow from moves.

    Takes time and memory by the square of the cells: made for boards of up to 30x30 or so.
    """

    def __init__(self, rows: int, columns: int, player: int, share: Callable[[str, int], float]):
        self.columns = columns
        self.cells = rows * columns
        self.player = player
        lines: dict[tuple[str, int], list[int]] = {}
        for kind in KINDS:
            for cell in range(self.cells):
                height, column = divmod(cell, columns)
                where = {"row": height, "rise": height - column, "fall": height + column}
                lines.setdefault((kind, where.get(kind, column)), []).append(cell)
        lines = dict(  # short ones first, as they have no windows; columns last
            sorted(lines.items(), key=lambda line: line[0][0] == "column" or len(line[1]) > 3)
        )
        self.column_line = range(len(lines) - columns, len(lines))
        forms = [(kind, line[0], len(line)) for (kind, _), line in lines.items()]
        self.short_lines = sum(kind != "column" and length < 4 for kind, _, length in forms)
        self.forms = forms[self.short_lines :]
        shares = [
            tuple(share(kind, cell // columns) for cell in line)
            for (kind, _), line in lines.items()
        ]
        self.even = {0.5}.issuperset(chain.from_iterable(shares))
        self.shares = shares
        long = {line: LongLine(line) for line in shares if line not in TABLES}
        self.tables: list[Table] = [TABLES.get(line) or long[line] for line in shares]
        self.crossing: list[list[tuple[int, int]]] = [[] for _ in range(self.cells)]
        for index, line in enumerate(lines.values()):
            for place, cell in enumerate(line):
                self.crossing[cell].append((index, 3**place))
        self.known_differences: dict[tuple[int, int, int], Differences] = {}
        self._prepare(list(lines.values()))
        bits = random.Random(0)
        self.keys = [[bits.getrandbits(60) for _ in range(self.cells)] for _ in range(3)]
        self.turn = bits.getrandbits(60)
        self.pop_plans: list[dict[int, PopPlan]] = [{} for _ in range(columns)]
        columns_kept = list(zip(range(columns), self.column_line, self.pop_plans, strict=True))
        self.own_columns = [columns_kept[(player - mover) % 2 :: 2] for mover in (0, ME, OPPONENT)]

    def _prepare(self, lines: list[list[int]]) -> None:
        """Lay out flat, by cell, what the search looks up all the time."""
        self.look_ups: list[list[tuple[Any, ...]]] = [
            [
                tuple(chain.from_iterable((i, self.differences(i, mover * w)) for i, w in four))
                for four in self.crossing
            ]
            for mover in (0, ME, OPPONENT)
        ]
        self.above = [
            self.look_ups[ME][cell + self.columns :: self.columns] for cell in range(self.cells)
        ]
        self.changes: list[list[tuple[int, ...]]] = [
            [
                tuple(chain.from_iterable((line, mover * w) for line, w in four))
                for four in self.crossing
            ]
            for mover in (0, ME, OPPONENT)
        ]
        self.shared: list[list[list[Shared | None]]] = [
            [[None] * self.cells for _ in range(self.cells)] for _ in range(3)
        ]
        for mover in (ME, OPPONENT):
            pairs: dict[tuple[int, int, int], Differences] = {}  # of a form and two of its places
            for index, line in enumerate(lines):
                form = id(self.tables[index])
                for (i, cell), (j, other) in permutations(enumerate(line), 2):
                    if (form, i, j) not in pairs:
                        pairs[form, i, j] = self.differences(index, 3**j, mover * 3**i)
                    self.shared[mover][cell][other] = index, pairs[form, i, j]

    def differences(self, line: int, step: int, second: int = 0) -> Differences:
        """Return the differences of a line's table, or with a second step those of them.

        Lines of one form share theirs.
        """
        form = id(self.tables[line]), step, second
        if form not in self.known_differences:
            table = self.differences(line, step) if second else self.tables[line]
            self.known_differences[form] = Differences(table, second or step)
        return self.known_differences[form]

    def read(self, board: Array, own: int, other: int) -> Position:
        """Return the position on `board` with me to move."""
        codes = [0] * len(self.tables)
        landing = list(range(self.columns))
        key = 0
        for cell, token in enumerate(board[::-1].ravel().tolist()):
            if token:
                mover = ME if token == self.player else OPPONENT
                for line, weight in self.crossing[cell]:
                    codes[line] += mover * weight
                key ^= self.keys[mover][cell]
                landing[cell % self.columns] += self.columns
        total = sum(table[code] for table, code in zip(self.tables, codes, strict=True))
        return codes, self._drops(codes, landing), total, key, ME, own, other

    def move(self, action: int) -> Move:
        """Return an action as the simulator knows it."""
        return (action % self.columns, False) if action >= 0 else (~action, True)

    def empty_cells(self, drops: Actions) -> int:
        """Return the number of empty cells, given all drops."""
        return sum([len(self.above[cell]) for _, cell in drops], len(drops))

    def plies_left(self, position: Position) -> int:
        """Return the greatest number of moves until the game ends: each one lowers it by 1."""
        _, drops, _, _, _, own, other = position
        return self.empty_cells(drops) + 2 * (own + other)

    def actions(self, position: Position) -> Actions:
        """Return what the mover can do."""
        codes, drops, _, _, mover, own, _ = position
        return sorted(drops + self.pops(codes, mover), reverse=True) if own else drops

    def play(self, position: Position, gain: float, action: int) -> Position:
        """Return the position after one of the mover's `actions`."""
        codes, drops, total, key, mover, own, other = position
        if action >= 0:
            codes, drops = self._drop(codes, drops, action, mover)
            key ^= self.keys[mover][action]
            if mover == OPPONENT and not self.even:
                gain = self.loss(position[0], action)
        else:
            codes, drops, change = self._pop(codes, drops, ~action)
            key ^= change
            own -= 1
        return codes, drops, -total - gain, key ^ self.turn, 3 - mover, other, own

    def corrections(self, last_mover: int, chosen: int) -> list[Correction]:
        """Return the correction of each line after the short ones by this set of learned numbers.

        Lines of one form share theirs.
        """
        known: dict[Any, Correction] = {}
        corrections = []
        for kind, first, length in self.forms:
            height, column = divmod(first, self.columns)
            own = (column + self.player + last_mover + 1) % 2
            form = kind, height % 2, own, length
            if form not in known:
                up, sideways = kind != "row", kind != "column"
                windows = WINDOWS[last_mover][chosen][KINDS.index(kind)]
                places = range(length - 3)
                known[form] = Correction(
                    [windows[(height + i * up) % 2][(own + i * sideways) % 2] for i in places]
                )
            corrections.append(known[form])
        return corrections

    def gain(self, codes: Codes, cell: int) -> float:
        """Return how much my margin grows with a token of mine in the empty `cell`."""
        i, a, j, b, k, c, m, d = self.look_ups[ME][cell]
        gain: float = a[codes[i]] + b[codes[j]] + c[codes[k]] + d[codes[m]]
        return gain

    def loss(self, codes: Codes, cell: int) -> float:
        """Return how much my margin falls with a token of the opponent's in the `cell`."""
        i, a, j, b, k, c, m, d = self.look_ups[OPPONENT][cell]
        change: float = a[codes[i]] + b[codes[j]] + c[codes[k]] + d[codes[m]]
        return -change

    def gain_above(self, codes: Codes, cell: int, mover: int) -> float:
        """Return the gain in the cell above `cell` once the mover has taken that one."""
        above = cell + self.columns
        if above >= self.cells:
            return 0.0
        i, a, j, b, k, c, m, d = self.look_ups[ME][above]
        taken = codes[m] + self.changes[mover][cell][-1]
        gain: float = a[codes[i]] + b[codes[j]] + c[codes[k]] + d[taken]
        return gain

    def coins(self, codes: Codes, drops: Actions) -> tuple[float, list[float]]:
        """Return what zugzwang is worth to the mover in a simpler game, and what other coins are.

        Each column is a stack of coins, worth the gains of its cells, that the players take in
        turn. It stands on its head: the coin to take first is the lowest empty cell. A coin worth
        no less than the one before it and the one after it makes one coin of the three, worth
        `before - coin + after`: with best play they go in turn, or none of them. A last pair whose
        second coin is worth no less than its first is left alone until only such pairs are left.
        Then whoever is to move must open one, and loses the differences of all of them, the
        prize: with an odd number of empty cells that is the opponent. The other coins fall in
        worth from one to the next in each stack; the players take the greatest of them in turn.
        They are returned in this order.
        """
        prize = 0.0
        coins = []
        empty_cells = len(drops)
        for first, cell in drops:
            stack = [first]
            empty_cells += len(self.above[cell])
            for i, a, j, b, k, c, m, d in self.above[cell]:
                coin = a[codes[i]] + b[codes[j]] + c[codes[k]] + d[codes[m]]
                while len(stack) > 1 and coin <= stack[-1] >= stack[-2]:
                    coin += stack[-2] - stack[-1]
                    del stack[-2:]
                stack.append(coin)
            while len(stack) > 1 and stack[-1] >= stack[-2]:
                prize += stack.pop() - stack.pop()
            coins += stack
        coins.sort(reverse=True)
        return prize if empty_cells % 2 else -prize, coins

    def _drops(self, codes: Codes, landing: list[int]) -> Actions:
        """Return the drops into the `landing` cells that are on the board."""
        drops = []
        for cell in landing:
            if cell < self.cells:
                i, a, j, b, k, c, m, d = self.look_ups[ME][cell]
                gain = a[codes[i]] + b[codes[j]] + c[codes[k]] + d[codes[m]]
                drops.append((gain, cell))
        drops.sort(reverse=True)
        return drops

    def _drop(self, codes: Codes, drops: Actions, cell: int, mover: int) -> tuple[Codes, Actions]:
        """Return the codes after a drop, and the drops that are possible then."""
        after = codes[:]
        i, a, j, b, k, c, m, d = self.changes[mover][cell]
        after[i] += a
        after[j] += b
        after[k] += c
        after[m] += d
        shared = self.shared[mover][cell]
        above = cell + self.columns
        replies = []
        if above < self.cells:
            i, a, j, b, k, c, m, d = self.look_ups[ME][above]
            replies.append((a[after[i]] + b[after[j]] + c[after[k]] + d[after[m]], above))
        for drop in drops:
            gain, other = drop
            if common := shared[other]:
                line, changes = common
                replies.append((gain + changes[codes[line]], other))
            elif other != cell:
                replies.append(drop)
        replies.sort(reverse=True)
        return after, replies

    def pops(self, codes: Codes, mover: int) -> Actions:
        """Return the pop-outs in the mover's columns, in no order.

        It repeats what `pop_gain` does: calling that for each column costs 4 to 9 % more time.
        """
        pops = []
        for column, line, plans in self.own_columns[mover]:
            if code := codes[line]:
                plan = plans.get(code) or self._pop_plan(column, code)
                in_column, crossing, differences, _, _, _ = plan
                gain = sum(map(getitem, differences, crossing(codes)), in_column)
                pops.append((gain if mover == ME else -gain, ~column))
        return pops

    def pop_gain(self, codes: Codes, column: int, mover: int) -> float:
        """Return the mover's gain from a pop-out of a column that is not empty."""
        plan = self._pop_plan(column, codes[self.column_line[column]])
        in_column, crossing, differences, _, _, _ = plan
        gain: float = sum(map(getitem, differences, crossing(codes)), in_column)
        return gain if mover == ME else -gain

    def _pop(self, codes: Codes, drops: Actions, column: int) -> tuple[Codes, Actions, int]:
        """Return the codes and drops after a pop-out, and the change of the key."""
        after = codes[:]
        code = codes[self.column_line[column]]
        _, _, _, changes, key, top = self._pop_plan(column, code)
        for line, change in changes:
            after[line] += change
        landing = [cell for _, cell in drops if cell % self.columns != column]
        landing.append(top)
        return after, self._drops(after, landing), key

    def _pop_plan(self, column: int, code: int) -> PopPlan:
        """Return what a pop-out does to a column with this code.

        That is my gain in the column itself, what reads the codes of the rows and diagonals that
        change, their differences, the changes of all codes, the change of the key, and the highest
        cell that was taken.
        """
        if plan := self.pop_plans[column].get(code):
            return plan
        if len(self.pop_plans[column]) >= MOST_PLANS:
            self.pop_plans[column].clear()
        changes: Changes = []
        cell, rest, key = column, code, 0
        while rest:
            rest, token = divmod(rest, 3)
            falling = rest % 3
            if falling != token:
                step = falling - token
                changes += [(line, step * weight) for line, weight in self.crossing[cell][:3]]
                key ^= self.keys[token][cell] ^ (self.keys[falling][cell] if falling else 0)
            cell += self.columns
        crossing = itemgetter(*(line for line, _ in changes))
        differences = [self.differences(*change) for change in changes]
        column_line = self.column_line[column]
        table = self.tables[column_line]
        gain = table[code // 3] - table[code]
        changes.append((column_line, code // 3 - code))
        plan = gain, crossing, differences, changes, key, cell - self.columns
        self.pop_plans[column][code] = plan
        return plan


# -- The budget


class BudgetSpentError(Exception):
    """The time or the nodes of this move are used up."""


class Budget:
    """How long a move may take: seconds, or nodes of the search in their place."""

    LOOKS = 0.125, 0.25, 0.5
    """At these shares of the time alpha-beta looks whether its move is settled, if it `may_end`."""

    def __init__(self, seconds: float, nodes: int | None, may_end: bool = False):
        margin = min(0.1 * seconds + 0.02, 0.6 * seconds)  # for a machine with other work to do
        self.begin, self.seconds = clock.monotonic(), seconds
        self.deadline = self.begin + seconds - margin if nodes is None else INFINITY
        self.may_end = may_end and nodes is None
        self.looks = [*self.LOOKS] if self.may_end else []
        self.limit = INFINITY if nodes is None else nodes
        self.nodes = 0

    def spend(self) -> None:
        """Count one node; raise `BudgetSpentError` if it was one too many."""
        self.nodes += 1
        if self.nodes > self.limit or clock.monotonic() > self.deadline:
            raise BudgetSpentError

    def spent(self) -> float:
        """Return the seconds since the move began."""
        return clock.monotonic() - self.begin

    def looks_now(self) -> bool:
        """Return whether it is time for the next look at whether the move is settled."""
        share = self.spent() / self.seconds
        due = bool(self.looks) and share >= self.looks[0]
        self.looks = [look for look in self.looks if look > share]
        return due


# -- Games to the end


class Playouts:
    """Games to the end against an opponent that plays at random, many at once.

    I always take the greatest gain. Numpy works on all games in one step: each array has a row for
    each game. `values` contains the tables of all lines, one after another. A code here is the
    index in `values`: the code of the line plus the start of its table.
    """

    def __init__(self, lines: Lines):
        self.lines = lines
        self.rows, count = lines.cells // lines.columns, len(lines.shares)
        tables = {shares: _expected_margins(shares) for shares in dict.fromkeys(lines.shares)}
        starts = dict(zip(tables, np.cumsum([0, *map(len, tables.values())]), strict=False))
        self.values = np.concatenate([*tables.values(), [0.0]], dtype=np.float32)
        self.start = np.array([*(starts[shares] for shares in lines.shares), len(self.values) - 1])
        self.line = np.full((lines.columns, self.rows + 1, 4), count)  # above the top: one worth 0
        self.weight = np.zeros((lines.columns, self.rows + 1, 4), int)
        self.weights = np.zeros((lines.columns, self.rows, count + 1), np.float32)
        for cell, four in enumerate(lines.crossing):
            height, column = divmod(cell, lines.columns)
            self.line[column, height], self.weight[column, height] = zip(*four, strict=True)
            self.weights[column, height, self.line[column, height]] = self.weight[column, height]
        self.own_columns = [
            np.array([column for column, _, _ in own], int) for own in lines.own_columns
        ]
        self.chance = np.random.default_rng(0)
        self.codes, self.tokens, self.heights, self.hands = [np.empty(0, int)] * 4  # of each game

    def margins(self, positions: list[Position], games: int, budget: Budget) -> Array:
        """Return my mean final margin from each position, in which the opponent is to move.

        The games from all positions meet the same chances.
        """
        self._begin(positions, games)
        final = np.zeros(len(self.codes))
        game, mover = np.arange(len(self.codes)), OPPONENT
        while len(game):
            budget.spend()
            can = self._possible(mover)
            if not (goes_on := can.any(1)).all():
                final[game[~goes_on]] = self.values[self.codes[~goes_on]].sum(1)
                game, can = game[goes_on], can[goes_on]
                self.codes, self.tokens = self.codes[goes_on], self.tokens[goes_on]
                self.heights, self.hands = self.heights[goes_on], self.hands[goes_on]
            chances = self.chance.random(games)
            self._turn(mover, can, chances[game % games])
            mover = 3 - mover
        means: Array = final.reshape(-1, games).mean(1)
        return means

    def _begin(self, positions: list[Position], games: int) -> None:
        """Set up `games` games from each position."""
        columns = np.array(
            [[codes[line] for line in self.lines.column_line] for codes, *_ in positions]
        )
        codes = np.array([[*codes, 0] for codes, *_ in positions]) + self.start
        tokens = columns[:, :, None] // 3 ** np.arange(self.rows + 1) % 3  # the last one is empty
        hands = np.array([(0, mine, theirs) for *_, theirs, mine in positions])
        self.codes, self.tokens, self.hands = (
            np.repeat(part, games, 0) for part in (codes, tokens, hands)
        )
        self.heights = (self.tokens > 0).sum(2)

    def _possible(self, mover: int) -> Array:
        """Return which drops, and then which pop-outs, are possible in each game."""
        in_hand = self.hands[:, mover, None] > 0
        popouts = in_hand & (self.heights[:, self.own_columns[mover]] > 0)
        return np.concatenate((self.heights < self.rows, popouts), 1)

    def _turn(self, mover: int, can: Array, chances: Array) -> None:
        """Play an action in each game: mine is the best by gain, the opponent's is by chance."""
        if mover == ME:
            pop_gains = self._pop_gains(can[:, self.lines.columns :])
            gains = np.concatenate((self._drop_gains(), pop_gains), 1)
            chosen = np.where(can, gains, -INFINITY).argmax(1)
        else:
            count = can.cumsum(1)
            chosen = (count > (chances * count[:, -1])[:, None]).argmax(1)
        drops = chosen < self.lines.columns
        game, column = np.flatnonzero(drops), chosen[drops]
        height = self.heights[game, column]
        self.codes[game[:, None], self.line[column, height]] += mover * self.weight[column, height]
        self.tokens[game, column, height] = mover
        self.heights[game, column] += 1
        if not drops.all():
            own = self.own_columns[mover]
            game = np.flatnonzero(~drops)
            column = own[chosen[game] - self.lines.columns]
            change = np.diff(self.tokens[game, column])
            self.codes[game] += self._code_changes(change[:, None], column)[:, 0]
            self.tokens[game, column, :-1] += change
            self.heights[game, column] -= 1
            self.hands[game, mover] -= 1

    def _code_changes(self, changes: Array, columns: Array) -> Array:
        """Return how all codes change with changes of the tokens in each of the columns."""
        product: Array = changes.astype(np.float32) @ self.weights[columns]
        return product.astype(int)

    def _drop_gains(self) -> Array:
        """Return my gain in the landing cell of each column."""
        landing = np.arange(self.lines.columns), self.heights
        row = len(self.start) * np.arange(len(self.codes))
        codes = self.codes.take(self.line[landing] + row[:, None, None])
        after = codes + self.weight[landing]
        gains: Array = (self.values.take(after) - self.values.take(codes)).sum(2)
        return gains

    def _pop_gains(self, can_pop: Array) -> Array:
        """Return my gain by popping out of each of my columns; 0 in games where I can't."""
        gains = np.zeros(can_pop.shape)
        games = np.flatnonzero(can_pop.any(1))
        if len(games):
            codes, columns = self.codes[games], self.own_columns[ME]
            changes = np.diff(self.tokens[games[:, None], columns]).swapaxes(0, 1)
            after = codes + self._code_changes(changes, columns)
            gains[games] = (self.values.take(after).sum(2) - self.values.take(codes).sum(1)).T
        return gains


# -- The searches


class Expectimax:
    """Expectimax against an opponent that takes each of its actions with equal probability.

    From five plies on each depth is searched twice: first only with the best of my actions, by the
    values of the search before at the root and by their gains elsewhere, then with all of them.
    Half of the time, and of a second or more three quarters, is left for games to the end: their
    mean margins, added to the values of the best actions, choose among these. Where the search sees
    the end of the game, it alone chooses.

    Tesauro and Galperin, "On-line policy improvement using Monte-Carlo search", 1996.
    """

    share = staticmethod(share_against_random)

    WIDTH = 4
    """How many of my actions the first of the two searches tries.

    At five plies the games were as good as with all of them, at a fifth to a tenth of the cost.
    """

    GAMES = 64
    """To the end, played at once from each of the best actions."""

    LEAST_SECONDS = 0.1
    """Less time is all for the search: to lay out the tables of these games takes up to 0.03 s."""

    ROUNDS, SURE = 8, 5.0
    """Every 8 rounds of games the agent compares the means. The move is settled if one action leads
    each other action by more than 5 standard errors of the difference."""

    DEBTS = 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 3.0, 4.0, 4.5, 5.5, 6.5
    """What the Nth pop-out in hand costs me if the opponent makes the last move.

    I am then the one to move when the board is full, and have to pop out at a loss. Measured in
    games from the same positions with N and N - 1: see `docs/reference-agent.md`.
    """

    TABLE_SIZE = 2**18
    """Entries of the table of positions; a new one takes the place of an old one."""

    def __init__(self, lines: Lines):
        self.lines = lines
        self.relief: tuple[float, ...] = (0.0,)  # by pop-outs in hand: what using one saves me
        self.seen: list[tuple[int, int, float]] = [(-1, 0, 0.0)] * self.TABLE_SIZE
        self.depth, self.best = 0, 0
        self.values: list[tuple[float, tuple[float, int]]] = []  # of the last search, best first
        self.narrow, self.solved, self.settled = False, False, False
        self.tables_fit = max(map(len, lines.shares)) <= LONGEST_TABLE
        self.playouts: Playouts | None = None

    def choose(self, position: Position, budget: Budget) -> int:
        """Return the best action that the budget lets us find."""
        self.budget, self.settled = budget, False
        deadline, seconds = budget.deadline, budget.deadline - clock.monotonic()
        plays_out = self.tables_fit and self.LEAST_SECONDS < seconds < INFINITY
        if plays_out:
            self.playouts = self.playouts or Playouts(self.lines)
            budget.deadline -= seconds * (3 / 4 if budget.may_end else 1 / 2)
        try:
            self._deepen(position)
        except BudgetSpentError:
            budget.deadline = deadline
            if plays_out:
                self._play_out(position)
        return self.best

    def _deepen(self, position: Position) -> None:
        """Search to greater and greater depths, until the end of the game or of the budget."""
        actions = self.lines.actions(position)
        left = self.lines.plies_left(position)
        self.relief = (0.0,) if left % 2 else self.DEBTS
        self.depth, self.best, self.values = 1, actions[0][1], []
        for depth in range(3, min(left, DEEPEST) + 2, 2):
            self.solved = depth >= left
            for self.narrow in (True, False) if depth > 3 else (False,):
                actions = self._ranked(position, actions, depth)
            self.depth = depth

    def _play_out(self, position: Position) -> None:
        """Let games to the end choose among the best actions of the last search that ended."""
        values = [value for value, _ in self.values[: self.WIDTH]]
        actions = [item for _, item in self.values[: self.WIDTH]]
        children = [self.lines.play(position, *item) for item in actions]
        rounds: list[Array] = []
        try:
            while self.playouts and actions and not self.settled:
                margins = self.playouts.margins(children, self.GAMES, self.budget)
                rounds.append(margins + values)
                if self.budget.may_end and len(rounds) % self.ROUNDS == 0:
                    self.settled = self._leads(np.array(rounds))
        except BudgetSpentError:
            pass
        if rounds:
            self.best = actions[np.mean(rounds, 0).argmax()][1]

    def _leads(self, rounds: Array) -> bool:
        """Return whether one action is ahead by more than chance allows (`SURE` errors)."""
        ahead = rounds[:, [rounds.mean(0).argmax()]] - rounds
        errors = ahead.std(0) / len(rounds) ** 0.5
        return bool((ahead.mean(0) >= self.SURE * errors).all())

    def _ranked(self, position: Position, actions: Actions, depth: int) -> Actions:
        """Return the actions, best first; `best` is the best one if the budget ends the search."""
        tried = actions[: self.WIDTH] if self.narrow else actions
        values: list[tuple[float, tuple[float, int]]] = []
        self.best = actions[0][1]
        for item in tried:
            values.append((self._after(position, *item, depth), item))
            self.best = max(values)[1][1]
        self.values = sorted(values, reverse=True)
        return [item for _, item in self.values] + actions[len(tried) :]

    def _after(self, position: Position, gain: float, action: int, depth: int) -> float:
        value = -self._value(self.lines.play(position, gain, action), depth - 1)
        _, _, _, _, mover, own, _ = position
        return value + self._relieved(own) if action < 0 and mover == ME else value

    def _relieved(self, popouts: int) -> float:
        """Return what I save by using one of so many pop-outs; at the end the margin shows it."""
        return 0.0 if self.solved else self.relief[min(popouts, len(self.relief) - 1)]

    def _value(self, position: Position, depth: int) -> float:
        """Return the mover's expected final margin."""
        self.budget.spend()
        _, _, total, key, mover, own, other = position
        actions = self.lines.actions(position)
        if not actions or not depth:
            return total
        if depth == 1 and mover == ME:
            return total + actions[0][0]
        slot = key ^ own * OWN_KEY ^ other * OTHER_KEY
        searched = -depth if self.narrow and depth > 2 else depth
        key_found, known, value = self.seen[slot % self.TABLE_SIZE]
        if key_found != slot or known != searched:
            if depth == 2 and not self.solved:
                value = self._frontier(position)
            else:
                if mover == ME and self.narrow:
                    actions = actions[: self.WIDTH]
                values = [self._after(position, *item, depth) for item in actions]
                value = max(values) if mover == ME else sum(values) / len(values)
            self.seen[slot % self.TABLE_SIZE] = slot, searched, value
        return value

    def _frontier(self, position: Position) -> float:
        """Return the opponent's mean over its actions, each followed by my greatest gain.

        For a drop no child is made: the gain of an answer has changed only where it shares a line
        with the drop. The gains of my pop-outs are those before the drop.
        """
        codes, drops, total, _, mover, own, other = position
        lines = self.lines
        popouts = lines.pops(codes, ME) if other else []
        popped = max(popouts, default=(-INFINITY, 0))[0] + self._relieved(other)
        change_of_margin = 0.0
        for _, cell in drops:
            shared = lines.shared[mover][cell]
            best = max(popped, lines.gain_above(codes, cell, mover))
            for gain, answer in drops:
                if common := shared[answer]:
                    line, changes = common
                    best = max(best, gain + changes[codes[line]])
                elif gain > best and answer != cell:
                    best = gain
            change_of_margin += best - lines.loss(codes, cell)
        pops = lines.pops(codes, mover) if own else []
        for gain, action in pops:
            child = lines.play(position, gain, action)
            change_of_margin += child[2] + total + lines.actions(child)[0][0]
        return total - change_of_margin / (len(drops) + len(pops))


class AlphaBeta:
    """Iterative deepening principal-variation search with a transposition table.

    Every value is the mover's expected final margin. Principal-variation search: Marsland and
    Campbell, "Parallel search of strongly ordered game trees", 1982.
    """

    TEMPO = 0.5
    """How much of its best gain the side to move after the last ply is credited with.

    With a half, searches of odd and of even depths find the same values on average; with 0.75 they
    are 9 points apart without pop-outs. Reductions by one ply and the table mix both depths.
    """

    CUT_DEPTH, MARGIN = 4, 3.0
    """From this depth on a search may stop if one two plies less deep is so far outside its window.

    Values two plies apart differ by 1.3 to 5 points (standard deviation; most at the end and with
    pop-outs left). Worth 2.3 ± 1.0 points a game. In the last two plies the search also leaves out
    pop-outs that miss the window by more than `MARGIN`.
    """

    NEAR = 8.0
    """Points: each depth begins with a window this far around the value of the last depth."""

    AGE, RIVAL = 0.5, 6.0
    """From the third depth on: how much the mean of an action's values so far counts beside the new
    one; an action whose value is further below what would make it the best may have a bound."""

    BLEND = 0.25
    """The share of `_estimate` in the value of a position two plies before the end of a search.

    The rest is what the search finds there. The two err differently: their mix errs less.
    """

    CLOSE = 1e-6
    """Less than values differ by: the width of a window that only asks "better or not"."""

    TABLE_SIZE = 2**18
    """Entries; a new one takes its place from whatever is there, which never stops the clock."""

    LEAP, LEAP_WITH_POPOUTS = 8, 2
    """The last N depths before the end of the game are skipped: they take nearly as long.

    With pop-outs left fewer are skipped: they cost less, and the exact values help to choose.
    """

    ENDING = 6
    """With pop-outs left and at most this many plies to go, a game is searched to its end.

    That begins two plies before the end of a search. Together with a leap of 2 instead of 3 it cuts
    the points given away near the end by 3 to 14 %.
    """

    LEAD = 5.0
    """Points: a move is settled if all others are worse by more in a search two plies less deep.

    None of 58 such moves changed when the search went on (60,000 nodes, five boards).
    """

    share = staticmethod(even_share)

    def __init__(self, lines: Lines):
        self.lines = lines
        self.known: list[Entry] = [(-1, 0, 0, 0.0, 0)] * self.TABLE_SIZE
        self.held: dict[tuple[int, float, int, int, int], float] = {}  # what `_in_hand` returned
        self.depth = 0
        self.value = 0.0  # of the chosen action at the last depth
        self.values: list[tuple[int, float]] = []  # the same for each depth that was searched whole
        self.beside = 0.0  # of the positions before the last ply that are being looked at
        self.late = 0.0  # of the same: how far the last third of the board is filled
        self.replies: Actions = []  # of the same: the other player's pop-outs, best first
        self.last_mover = ME  # see `_in_hand`
        self.phase = 0  # of the position that `_beside` judged last, at first of the root
        # by set, then by whether the last mover is to move
        self.networks = [[Network(n, last) for last in (False, True)] for n in range(NETWORK_SETS)]
        self.size = min(lines.cells, MOST_CELLS), min(lines.columns, MOST_COLUMNS)
        self.corrections: dict[int, list[Correction]] = {}  # by set, for this last mover
        self.solved = self.settled = False
        self.sounding = False  # whether this is a search of `_sounded`: it makes no further ones

    def choose(self, position: Position, budget: Budget) -> int:
        """Return the best action that the budget lets us find."""
        self.budget = budget
        actions = self.lines.actions(position)[:]
        left = self.lines.plies_left(position)
        _, _, _, _, mover, own, other = position
        last_mover = mover if left % 2 else 3 - mover
        if last_mover != self.last_mover:
            self.last_mover = last_mover
            self.corrections.clear()
        self.phase = self._phase(left - 2 * (own + other))
        leap = self.LEAP_WITH_POPOUTS if own or other else self.LEAP
        self.held.clear()
        self.depth, self.values, self.settled = 0, [], False
        self.beside = self.late = 0.0
        self.replies = self._replies(position)
        means: dict[int, float] = {}
        try:
            for depth in (*range(1, min(left - leap, DEEPEST)), min(left, DEEPEST)):
                self.solved = depth == left
                self._weigh(position, depth, actions, means)
                self.depth = depth
                self.values.append((depth, self.value))
                if budget.looks_now() and not self.solved and self._leads(position, actions):
                    self.settled = True
                    break
        except BudgetSpentError:
            self.solved = self.sounding = False
        return actions[0][1]

    def _weigh(
        self, position: Position, depth: int, actions: Actions, means: dict[int, float]
    ) -> None:
        """Search all actions to this depth and put the best one first.

        Values of several depths err differently. So from the third depth on an action counts by a
        mean: of its mean so far and its new value. A search to the end of the game counts alone.
        An action far below the best one has an upper bound in place of its value. That makes its
        mean too high, but not high enough to be chosen.
        """
        age, rival = (self.AGE if depth > 2 else 0.0), self.RIVAL
        if self.solved:
            age = rival = 0.0
        best, found = -INFINITY, 0.0
        for index, (gain, action) in enumerate(list(actions)):
            child = self.lines.play(position, gain, action)
            older = age * means.get(action, 0.0)
            if index or self.depth < 2:
                alpha = (best - older) / (1 - age) - rival
                value = self._look(child, depth, index, alpha, INFINITY)
            else:
                value = self._near(child, depth)
            means[action] = mean = older + (1 - age) * value
            if mean > best:
                best, found = mean, value
                actions.remove((gain, action))
                actions.insert(0, (gain, action))
        self.value = found

    def _near(self, child: Position, depth: int) -> float:
        """Return the value of the first action: most often it is near that of the last depth.

        The first search uses a window around that value. If the result lies outside, a second one
        has no limit on that side.
        """
        low, high = self.value - self.NEAR, self.value + self.NEAR
        value = self._look(child, depth, 0, low, high)
        if value <= low:
            return self._look(child, depth, 0, -INFINITY, value + self.CLOSE)
        if value >= high:
            return self._look(child, depth, 0, value - self.CLOSE, INFINITY)
        return value

    def _leads(self, position: Position, actions: Actions) -> bool:
        """Return whether the first action is better than all others by more than `LEAD`."""
        bar, depth = self.value - self.LEAD, self.depth - 3
        for gain, action in actions[1:]:
            child = self.lines.play(position, gain, action)
            if depth < 2 or -self._search(child, depth, -bar - self.CLOSE, -bar) > bar:
                return False
        return True

    def _phase(self, empty_cells: int) -> int:
        """Return the phase of the game: 0 late, 1 in the middle, 2 early."""
        return (3 * empty_cells > self.lines.cells) + (3 * empty_cells > 2 * self.lines.cells)

    def _beside(self, position: Position, actions: Actions) -> float:
        """Return what counts for the mover beside expected margins and pop-outs in hand.

        Also keeps the phase and the lateness, by which the worth of those in hand changes, and the
        pop-outs of the other player.
        """
        codes, drops, _, _, mover, own, other = position
        empty_cells = self.lines.empty_cells(drops)
        self.phase = self._phase(empty_cells)
        self.late = max(0.0, 1 - 3 * empty_cells / self.lines.cells)
        self.replies = self._replies(position)
        chosen = self.phase if own or other else PHASES + self.phase
        correction = self.correction(codes, chosen)
        if mover == OPPONENT:
            correction = -correction
        prize, coins = (0.0, []) if own and other else self.lines.coins(codes, drops)
        last_moves = mover == self.last_mover
        features = self._features(position, actions, prize)
        if chosen < NETWORK_SETS:
            features += self._inputs(position, empty_cells, correction, prize, coins)
            worth = self.networks[chosen][last_moves].worth(features, self.late)
        else:  # never in the last third of the board
            steady, _ = FEATURES[chosen][last_moves]
            worth = round(sum(map(mul, steady, features)) * 1024) / 1024
        return correction + (worth if last_moves else -worth)

    def _features(self, position: Position, actions: Actions, prize: float) -> list[float]:
        """Return what the learned weights count, from the last mover's side.

        That is what the pop-outs of the last mover would gain, what those of the other would, the
        prize of zugzwang (three numbers: if nobody has pop-outs in hand, if only the last mover
        has, if only the other has), the gains of the mover's two best drops, and 1.
        """
        _, drops, _, _, mover, own, other = position
        last_moves = mover == self.last_mover
        mine = theirs = NO_GAINS
        if own:
            mine = self._popout_features([gain for gain, action in actions if action < 0][:own])
        if other:
            theirs = self._popout_features([gain for gain, _ in self.replies[:other]])
        prizes = [0.0, 0.0, 0.0]
        holder = 0 if (own > 0) == (other > 0) else 1 if (own > 0) == last_moves else 2
        prizes[holder] = prize if last_moves else -prize
        first = drops[0][0] if drops else 0.0
        second = drops[1][0] if len(drops) > 1 else 0.0
        sides = mine + theirs if last_moves else theirs + mine
        return [*sides, *prizes, first, second, 1.0]

    def _inputs(
        self,
        position: Position,
        empty_cells: int,
        correction: float,
        prize: float,
        coins: list[float],
    ) -> list[float]:
        """Return what a network sees besides the features, from the last mover's side.

        - the pop-outs in hand of the last mover and of the other;
        - the share of empty cells, the lateness, 1 if the last mover is to move;
        - the cells and the columns of the board;
        - the gains of the third and the fourth drop, and how many drops there are;
        - the expected margin, the correction, the worth of pop-outs in hand;
        - the coins (see `Lines.coins`): what they are worth if the players take the greatest in
          turn, the greatest, the second;
        - the prize, if the last mover is to move.

        Prize and coins count 0 while both players have pop-outs.
        """
        _, drops, total, _, mover, own, other = position
        last_moves = mover == self.last_mover
        sign = 1 if last_moves else -1
        hands = (own, other) if last_moves else (other, own)
        margin = max(-MOST_MARGIN, min(total, MOST_MARGIN))
        clipped = max(-MOST_CORRECTION, min(correction, MOST_CORRECTION))
        return [
            *(min(hand, MOST_IN_HAND) for hand in hands),
            empty_cells / self.lines.cells,
            self.late,
            last_moves,
            *self.size,
            drops[2][0] if len(drops) > 2 else 0.0,
            drops[3][0] if len(drops) > 3 else 0.0,
            min(len(drops), MOST_COLUMNS),
            sign * margin,
            sign * clipped,
            sign * self._in_hand(mover, own, other),
            sign * (sum(coins[::2]) - sum(coins[1::2])),
            *(coins + NO_GAINS)[:2],
            prize if last_moves else 0.0,
        ]

    def _replies(self, position: Position) -> Actions:
        """Return the pop-outs of the player who is not to move, best first."""
        codes, _, _, _, mover, _, other = position
        return sorted(self.lines.pops(codes, 3 - mover), reverse=True) if other else []

    @staticmethod
    def _popout_features(gains: list[float]) -> list[float]:
        """Return sums of these gains, best first, as far as there are pop-outs for them.

        The positive ones are the best, the second and the sum of the others; the negative ones the
        best and the sum of the others.
        """
        best = second = others = least = debt = 0.0
        for place, gain in enumerate(gains):
            if gain < 0:
                if place:
                    debt += gain
                else:
                    least = gain
            elif not place:
                best = gain
            elif place == 1:
                second = gain
            else:
                others += gain
        return [best, second, others, least, debt]

    def correction(self, codes: Codes, chosen: int) -> float:
        """Return what the corrections of this set of learned numbers add to my margin."""
        if chosen not in self.corrections:
            self.corrections[chosen] = self.lines.corrections(self.last_mover, chosen)
        return sum(map(getitem, self.corrections[chosen], codes[self.lines.short_lines :]))

    def _in_hand(self, mover: int, own: int, other: int) -> float:
        """Return the worth of the pop-outs in hand to the mover.

        Each move lowers the number of plies left by one, so that it is settled from the start who
        makes the last one, as long as nobody loses a turn. The other player is the one to move when
        the board is full, and has to pop out, at a loss, as often as it still can, while the last
        mover drops into the gap. So pop-outs are worth more to the last mover.
        """
        hands = self.phase, self.late, mover, own, other
        if hands not in self.held:
            own, other = min(own, MOST_IN_HAND), min(other, MOST_IN_HAND)
            steady, late = HAND[self.phase]
            if mover == self.last_mover:
                self.held[hands] = steady[own][other] + self.late * late[own][other]
            else:
                self.held[hands] = -(steady[other][own] + self.late * late[other][own])
        return self.held[hands]

    def line(self, position: Position, action: int) -> list[int]:
        """Return `action` and the best actions after it, as far as the table knows them."""
        line = [action]
        while len(line) < self.depth:
            gain = {known: gain for gain, known in self.lines.actions(position)}[action]
            position = self.lines.play(position, gain, action)
            slot = position[3] ^ position[5] * OWN_KEY ^ position[6] * OTHER_KEY
            key_found, _, _, _, action = self.known[slot % self.TABLE_SIZE]
            if key_found != slot:
                break
            line.append(action)
        return line

    def _look(self, child: Position, depth: int, index: int, alpha: float, beta: float) -> float:
        """Return the value of the action at place `index`, which leads to `child`."""
        if index:
            less = 0
            if index > 2 and depth > 3 and not self.solved:
                less = 2 if index > 5 and depth > 5 else 1
            value = -self._search(child, depth - 1 - less, -alpha - self.CLOSE, -alpha)
            if less and value > alpha:
                value = -self._search(child, depth - 1, -alpha - self.CLOSE, -alpha)
            if not alpha < value < beta:
                return value
        return -self._search(child, depth - 1, -beta, -alpha)

    def _search(self, position: Position, depth: int, alpha: float, beta: float) -> float:
        """Return the mover's value: exact inside the window, else a bound on that side."""
        self.budget.spend()
        if depth <= 2:
            leaf = self._leaf(position, depth, alpha, beta)
            if leaf is not None:
                return leaf
        _, _, total, key, _, own, other = position
        slot = key ^ own * OWN_KEY ^ other * OTHER_KEY
        place = slot % self.TABLE_SIZE
        key_found, known, bound, value, favourite = self.known[place]
        found = key_found == slot
        tells = not bound or (value >= beta if bound > 0 else value <= alpha)
        if found and known >= depth and tells:
            return value
        if depth >= self.CUT_DEPTH and not self.solved and beta - alpha < 2 * self.CLOSE:
            bound_found = self._sounded(position, slot, depth, alpha, beta)
            if bound_found is not None:
                return bound_found
            key_found, _, _, _, favourite = self.known[slot % self.TABLE_SIZE]
            found = key_found == slot
        actions = self.lines.actions(position)
        if not actions or not depth:
            return total
        best = -INFINITY
        share = estimate = 0.0
        if depth == 2 and not self.solved:
            self.beside = -self._beside(position, actions)  # hardly changes with one move
            share, estimate = self.BLEND, self._estimate(position, actions)
            alpha = (alpha - share * estimate) / (1 - share)  # the window for the rest of the value
            beta = (beta - share * estimate) / (1 - share)
            actions, best = self._promising(position, actions, alpha)
        floor = alpha
        if found and favourite != actions[0][1]:
            actions = sorted(actions, key=lambda item: item[1] != favourite)
        best_action = actions[0][1]
        for index, (gain, action) in enumerate(actions):
            child = self.lines.play(position, gain, action)
            value = self._look(child, depth, index, alpha, beta)
            if value > best:
                best, best_action = value, action
                if value >= beta:
                    break
                alpha = max(alpha, value)
        bound = 1 if best >= beta else -1 if best <= floor else 0
        value = (1 - share) * best + share * estimate
        self.known[place] = slot, depth, bound, value, best_action
        return value

    def _leaf(self, position: Position, depth: int, alpha: float, beta: float) -> float | None:
        """Return the value of a position in the last two plies, None if it needs a search.

        With one ply left the value is an estimate. With two plies left, a game with pop-outs that
        ends soon is searched to its end. In a search to the end of the game, the last two plies
        without pop-outs are worked out at once.
        """
        _, drops, _, _, mover, own, other = position
        popouts = own + other
        if self.solved:
            if depth < 2 or popouts:
                return None
            return self._frontier(position, alpha, beta, 1.0)
        if depth == 1 and (drops or self.lines.actions(position)):
            more = self.beside
            if popouts:
                more += self._in_hand(mover, own, other)
            return self._frontier(position, alpha - more, beta - more, self.TEMPO) + more
        if depth < 2 or not popouts or len(drops) + 2 * popouts > self.ENDING:
            return None
        left = self.lines.plies_left(position)
        if left > self.ENDING:
            return None
        self.solved = True
        value = self._search(position, left, alpha, beta)
        self.solved = False
        return value

    def _estimate(self, position: Position, actions: Actions) -> float:
        """Return the mover's value by gains alone: the best action, less a share of the best reply.

        It looks one ply less far ahead than the search does here, and takes all other gains to stay
        as they are. After a drop the best reply is thus the second best drop.
        """
        _, drops, total, _, mover, own, other = position
        in_hand = self._in_hand(mover, own, other) if own or other else 0.0
        first = drops[0][0] if drops else 0.0
        best = -INFINITY
        if drops:
            best = first - self.TEMPO * (drops[1][0] if len(drops) > 1 else 0.0)
        if own:
            gain = next((gain for gain, action in actions if action < 0), -INFINITY)
            change = self._in_hand(mover, own - 1, other) - in_hand
            best = max(best, gain + change - self.TEMPO * first)
        return total + best - self.beside + in_hand

    def _promising(
        self, position: Position, actions: Actions, alpha: float
    ) -> tuple[Actions, float]:
        """Return the actions without the pop-outs that miss `alpha` by more than `MARGIN`.

        That is judged by their gains. The first action always stays. Also returns how much the best
        pop-out left out may be worth.
        """
        _, _, total, _, mover, own, other = position
        if not own:
            return actions, -INFINITY
        now = total - self.beside + self._in_hand(mover, own - 1, other) + self.MARGIN
        bar = alpha - now
        left_out = [gain for gain, action in actions[1:] if action < 0 and gain <= bar]
        if not left_out:
            return actions, -INFINITY
        rest = [item for item in actions[1:] if item[1] >= 0 or item[0] > bar]
        return [actions[0], *rest], min(alpha, now + left_out[0])

    def _sounded(
        self, position: Position, slot: int, depth: int, alpha: float, beta: float
    ) -> float | None:
        """Return a bound outside the null window that a search two plies less deep makes likely.

        None if there is none. Buro, "ProbCut: an effective selective extension of the alpha-beta
        algorithm", 1995.
        """
        for sounded in False, True:
            key_found, known, bound, value, _ = self.known[slot % self.TABLE_SIZE]
            if key_found == slot and known >= depth - 2:
                if bound >= 0 and value - self.MARGIN >= beta:
                    return value - self.MARGIN
                if bound <= 0 and value + self.MARGIN <= alpha:
                    return value + self.MARGIN
            if sounded or self.sounding or depth == self.CUT_DEPTH:
                return None
            self.sounding = True
            far = beta + self.MARGIN
            if self._search(position, depth - 2, far - self.CLOSE, far) < far:
                far = alpha - self.MARGIN
                self._search(position, depth - 2, far, far + self.CLOSE)
            self.sounding = False
        return None

    def _frontier(self, position: Position, alpha: float, beta: float, tempo: float) -> float:
        """Return the value of the mover's best action less the best drop in reply.

        The reply counts with the weight `tempo`. For a drop no child is made: the gain of a reply
        has changed only where it shares a line with the action.
        """
        codes, drops, total, _, mover, own, _ = position
        shared_by = self.lines.shared[mover]
        best = -INFINITY
        for gain, cell in drops:
            value = total + gain
            if value <= best:  # nor can the drops after it be better: they gain less
                break
            shared = shared_by[cell]
            enough = (value - alpha) / tempo
            best_reply = 0.0
            for drop in drops:
                reply, other = drop
                if common := shared[other]:
                    line, changes = common
                    reply += changes[codes[line]]
                if reply > best_reply and other != cell:
                    best_reply = reply
                if best_reply >= enough:
                    break
            else:
                best_reply = max(best_reply, self.lines.gain_above(codes, cell, mover))
            value -= tempo * best_reply
            if value > best:
                best = value
                if value >= beta:
                    return best
                alpha = max(alpha, value)
        if own:
            best = max(best, self._pop_frontier(position, max(alpha, best), tempo))
        return best if best > -INFINITY else total

    def _pop_frontier(self, position: Position, alpha: float, tempo: float) -> float:
        """Return the same as `_frontier` for the mover's pop-outs alone.

        `replies` has their gains before the last move, best first. Those that miss `alpha` by more
        than `MARGIN` are left out, and pop-outs of a column that was empty then.
        """
        codes, _, total, _, mover, own, other = position
        total += self._in_hand(mover, own - 1, other) - self._in_hand(mover, own, other)
        best = -INFINITY
        for gain_before, action in self.replies:
            if total + gain_before + self.MARGIN <= max(alpha, best):
                return max(best, total + gain_before)
            gain = self.lines.pop_gain(codes, ~action, mover)
            value = total + gain
            if value > alpha and value > best:
                replies = self.lines.play(position, gain, action)[1]
                value -= tempo * replies[0][0]
            best = max(best, value)
        return best


# -- The player


class AIPlayer:
    """Plays ExtendedConnect4 against random and against thinking opponents."""

    node_budget: int | None = None
    """A limit on the positions that a move may visit; it replaces the clock. None for no limit."""

    PATIENCE = 1.0
    """Seconds: with so much time or more a move is played, and said so, once it is settled."""

    def __init__(self, player_number: int, time: int):
        """Play as `player_number` (1 or 2) with `time` seconds for each move."""
        self.player_number = player_number
        self.type = "ai"
        self.player_string = f"Player {player_number}:ai"
        self.time = time
        self.kept: dict[Any, Any] = {}  # still there at the next turn, if this one was in time

    def get_expectimax_move(self, state: State) -> Move:
        """Return the move against an opponent that plays at random."""
        return self._choose(state, Expectimax)

    def get_intelligent_move(self, state: State) -> Move:
        """Return the move against an opponent that plays to win."""
        return self._choose(state, AlphaBeta)

    def expected_play(
        self, state: State
    ) -> tuple[float, list[Move], list[tuple[int, float]], bool]:
        """Return the margin that best play expects for this player, and the moves of that play.

        Also each depth searched with the margin found there for the action it chose, and whether
        the last one is exact.
        """
        search, position = self._prepare(state, AlphaBeta)
        assert isinstance(search, AlphaBeta)
        action = self._search(search, position, Budget(self.time, self.node_budget))
        value = search.value if search.depth else position[2]
        line = [search.lines.move(step) for step in search.line(position, action)]
        return value, line, search.values, search.solved

    def _choose(self, state: State, method: type[AlphaBeta | Expectimax]) -> Move:
        """Return the move that a search by `method` finds."""
        budget = Budget(self.time, self.node_budget, may_end=self.time >= self.PATIENCE)
        moves = get_valid_actions(self.player_number, state)
        if len(moves) == 1:
            return moves[0]
        search, position = self._prepare(state, method)
        column, is_popout = search.lines.move(self._search(search, position, budget))
        if search.settled:
            move = f"{column}{'P' * is_popout}"
            print(f"{move} is settled after {budget.spent():.1f} of {self.time} s")
        return column, is_popout

    def _prepare(
        self, state: State, method: type[AlphaBeta | Expectimax]
    ) -> tuple[AlphaBeta | Expectimax, Position]:
        """Return the search by `method` on such a board, and the position as it reads it."""
        board, popouts = state
        own = popouts[self.player_number].get_int()
        other = popouts[3 - self.player_number].get_int()
        if (method, board.shape) not in self.kept:
            rows, columns = board.shape
            lines = Lines(rows, columns, self.player_number, method.share)
            self.kept[method, board.shape] = method(lines)
        search: AlphaBeta | Expectimax = self.kept[method, board.shape]
        return search, search.lines.read(board, own, other)

    def _search(self, search: AlphaBeta | Expectimax, position: Position, budget: Budget) -> int:
        """Return the action that the search chooses."""
        collects = gc.isenabled()
        gc.disable()  # a search makes no cycles, and to walk all tables may make a move late
        try:
            return search.choose(position, budget)
        finally:
            gc.freeze()  # nor is what it keeps to be walked in a later turn
            if collects:
                gc.enable()
