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
worths and a small network, learned from deeper searches; expectimax plays its best actions to the
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
"""Corrections kept for lines of one form, for the same reason."""

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
    b"1PS~F3kCWB0tE~K3kVPX5(xbf1_c!j@&f_<`26|#`1<_<_yGL)|NILE|MdI;`1tzw_4)ht`}h3v_zM8`?gtSD4-^Xc1N;g"
    b"Q2Nx9)`2_m=3;q2G_v-WU0tpBV3I_ZH1pfX23i$&G0|N8|2nhcP0`>z300#pD?*k4D@$&%v2m1#L0|E{A{{8*|0|y2J_3r"
    b")o_V)Di`UU(62n7)f4HpCh3H=WX{ssvE|NjOB1_$~52m<*52m$u=1^)E_1^xE+{R9684H6Uq3k(1P0{{a7`TP0<{R#mE0{"
    b"Qy^1OW#Q5fS?e`~d?30Q~#@>G1IP{QLq14EXu_{{`~;|Ni~|_5%R@3jOy2|NH^^0RH><`uF(#`R(=q`vMC22MPQH2lfO90"
    b"s#8|0ssR0{rvLz1O5mA`~v^=|NH{@1OEg8{Qm<400;s90|5UI`UnUI0t^WW3j+T9{{R940sH;~4FCK6{`>_20}cNH|M>0q"
    b"_VE7w_4)bq>jMA-_4y075dgRf00bWZ0002~4FLHA00000?DYWd^Z)<=000000000000000000000000000000000000000"
    b"00000a^cVp22LJ&U000002@3!L1ONa4008{}_3!`y000000000000000000000000000000000000000000000*VOd@1}O"
    b"mj2mk;803kO3`1t?;008jt0PF1l0000000000000000000000000000000000000000000000P5rO0Q?020}%iK000U60R"
    b"I61000080s!^z00000000000000000000000000000000000000000000000900`~Lj-{r>v>0RI2||Nj2~0|Nm9|NaF31"
    b"N{K``}_L;0Q~#|{`~y_009C3`}_F$`uhC;^!oex0Q~~~00IU90RRI7|NZ>`1O);E1Oxv7{{I600RH>={Qm#`0ssF0{rv$0"
    b"{{sO400aL4`vC$0008~|{sRRC0|Wp60|5X1|NH~~`vd|12Ll2F0RadE0tfv00Q~#?{PqL{0tNyC2Mh-a1p@>B1pom70Ra5"
    b"_0Q~&``uzO>|NjF2`}+R-`2G9>`uYC<{sIC31_b;E000E}`~da%_W}F^0s;j800IO61_%NO2L<{71o#2_{r~v;{rvv{{`&"
    b"#{{rdm@_yPa@00aI80RaI5{s9922>=2A|NQ<0{{#Q`{{sR72?PiN0|5g61P1^G0RRU8008~`_xt+;`U3<00R8{|00I00{{"
    b"sR4|Ni|00tEsB1quBB0sZ{~0Q~&>_5B0{0s{m60|NsD0ssU90{{dB0sa91{`>v-{{8?10sj5_{r>*;1@{L4`ThU_3jhEB0"
    b"09F400IC20095|0R8j;00000000000000000000000000000000000000000000000;I30QUa?0tEm7000dJ00RL40002~"
    b"{{Z~|0000000000000000000000000000000000000000000000092^008v<00;*F000090ssU4000000sa62@Bjb+0000"
    b"0000000000000000000000000000000000000002`_WuC)`2Yn9000004gUZH00000008~~|NH;|000000000000000000"
    b"000000000000000000000000000`uz9y_xJq-{`>j%`1Sh!@B;(`1ON2;0RRI40si>`{Q(aG0RQ^`{RRX81q1o~_V)e!{|"
    b"o>4^!57&2nYTN3;X^2`uqL-{{j5~`uzR-{{Q^`00RB~{{Z{||NQ~|{Qv|01N;H|`T+t01^xy5{{Q^|000C20{#L80|5d91"
    b"p)&B0|5I11Of*K1Ofs500jL6`}X|*`vCj@0R{vF0{j670SE~P1ONR2`v3w3{`~;|`~Us{{{aE~0{;E}1O5F0{r>&>`U3m`"
    b"1px;E{{jL32m1Z|`}_R?0RaX90|5R51ONd6`w0O80s;X3009300RR5~0R#X81ONj60{i&_0s#L400IaB00jR80|f>M0|fy"
    b"7{sjUA|M~v|0RRI60R8>?0tW#C{saO3{{j90{QCa>0ssC40RjO41OEm7`ve35{rmm{0RjO50RR32{QUp`0Rj5~{r&v;1p)"
    b"v90{{mB1OEX31^xp7{{aC41ONs8{{jR900RC41^od70{sR5695JJ00a*J0002;{Q&y>000000{s93?f?J)000000000000"
    b"000000000000000000000000000000000=LP`t`v3|8000006#oDK`2YX_0Q~&`01f~E00000000000000000000000000"
    b"00000000000000000000rm<2@B9D-0ssI20Q&j>2Lb>90005|0RHd*0000000000000000000000000000000000000000"
    b"000000R8I#0Q>y_1quKF000pM00;m80002{_W%R}000000000000000000000000000000000000000000000008{^0s;a"
    b"A1q1&A0tff^`~Cg>1pxj1{{i^`{QLd^0{sF2{`~^|0{8y|{`~y_0s#UC0s;N}{saO6`vL#`{{8&?`~&|900930{{#U00{;"
    b"E}`T+g|{rvj`00R8_{sjL3{`&n1{{aI0|M~*{00aI9009950{#F10si{{{r>s_0s#X60R9021_2QO0}25L1ONd40|o#A1O"
    b"o&F0ssB_0RsjE{0RK@2K)Z~0|W*A`~(C900sI30|5dE{sRI9{Q?04009000tNvQ00RmE2Lu2B{{sd90R#gC1Ofm3`T+w51"
    b"pEm6^#=R?{R0FA{rm(31ONs40|Nm92>t^C1^om6{{;a81pxvC1_A{9{{;a6{rmX;0sR31_y7U=`S<<;{rm_9{saK}`2hO>"
    b"`vd_20R8>~{{001{rd<0{sI95|NjL60tEpA1O@^G{Qm_30R8*;{{j600r&s``uX?%0{#352L1#9`uPC+0Q&?10Ra8}0{;C"
    b"3|NZ+1{{8|10O}0@`2he53IG5A00;p90ssI20003300Q>_000000000000000000000000000000000000000000000008"
    b"O@0Qms`3JL%K000O900IC2000010ssQ{000000000000000000000000000000000000000000000008~?0ssU3009C300"
    b"00C0RRI5000000{;L5^8f$<00000000000000000000000000000000000000000002}_yPa}{Qv<1000003;_TG0RR910"
    b"0RF21M>g?0000000000000000000000000000000000000000000001qA~G00adD00RL60RjI60RaUD0t5sD1Ox*G1_1#9"
    b"0R{#F009621Ox^H0R#g90RjL60s{a90R#U700IC30|NpB0s#O60RjR7{{#R3008|10RaF3{{sR40s#R6{s9320RjF1{{aC"
    b"3000340RsO30096200991{{jI4{r~;@|NQ^~{{8|10s;O50RI2~{`vp@{r>>|{{sI2{`~>}00004{{a8}{QUm^0Q~>`{{a"
    b"8}00033{{H^@`v3v``~Up_0sj610RjR30|5U2|Ni;^{{8;|{{I610RH^}{{R301pfg4{rvp?{{Z~|{r>>}{Qv*~0{;H~`u"
    b"hL@{rdd;{Q&>}0Q~*~|Nj300Ra2~|Na30|Ns5{{{Q^{|NQ&?{Q>|0000950s{a3|Nj5|009C100RF4`v3a?{{8y={QUs`{"
    b"{Z~{1ONX20RaH~0ssC10RR8}{r>;_|Ns2^{rv&}000030s;d6{{Q~}{Qv<0{s0310{Z{^0R9F05CHl900asE0000A{Qv*}"
    b"00000{`~+0`2YX_000000000000000000000000000000000000000000005`w#&6{s06D000003jF{8000000RH^|1Ni^"
    b"|000000000000000000000000000000000000000000000{P_m}{r&&~0ssI201E;D{{R300002~008y?0000000000000"
    b"000000000000000000000000000000000Q~s}0R8>|0s;U4000XD0RI3000000{r~{>000000000000000000000000000"
    b"000000000000000000008{~{QUj>0R{v7{{8&@`~d;}0RsU60ssO7009C3{{8|31_b^7`uze12LAyA`~d#_`T+s||NR01`"
    b"~U+4|NZ~~0{{L1{Q>_0{{Q^{`~m;}{s932{{jI51OfsA0{{R20RjO4{{Z{~{{jO41pfj9`~dv{0s;O1{Q&_10RjF30RI62"
    b"0RaO51p@^C{{{d30RjR20s#F00ssO70RjB~{|5sF00RI0{s8>}{R9C30RR63{{a6300IF3{r>;{{{a610RaI600jdC|NjO"
    b"5{Q&|2{Q>~}00IC40|5d2|NjRA1pos7{r&*`0sRC4009601OEX30{{X60R8^|{{I61000300{#O300II20|Nm700RI50s{"
    b"g6{sR92{s8^}|NjB{0{{O60|Ng30s;R20sa60|NjC2{{jC0|Nj00{{R30{{sF3{{R93{sRL6000930s;d8|Na910sa8~0R"
    b"R61`U3y|1Oo#8{sIC1{{j900RR620RI90|Ns8}1@;60`u_j`2><{900{j6`~Uy|0006000#L0000000000000000000000"
    b"00000000000000000000000000s600Q&y`00{s9000R60Q>*|00001{s0E~00000000000000000000000000000000000"
    b"0000000000008*#008^`009920000C0RR93000000ssK}`2YX_00000000000000000000000000000000000000000002"
    b"^@Bje&{r~|1000003;_TD0ssI200IC2`}qI>000000000000000000000000000000000000000000000"
)
"""Corrections by the contents of windows of four cells: a byte each, in steps of 1/32 point.

Learned from deeper searches by `python3 -m benchmarks.training`. There are six sets: a phase each
with pop-outs left, then without. Each has ten tables: two of windows in rows, by
the parity of their height; four of those in diagonals and four of those in columns, by the parity
of the lowest cell's height and by whether the player who makes the last move may pop out of its
column. A table has the codes with an empty cell in order, with 1 for the last mover's tokens.
"""


LEARNED_WORTHS = (
    b"002_|2mjpuy8fvCkp6@IWBxk+5B>@Pb^tK|3;^)|<NwkB%KxzcjQ?o=mjV6&-T=P<r~sh=l>n0fe*j?sLI48-ZvjdHPys&"
    b"yJ^?rZJOM2M6#@JJSOUuds{yP5zyZYp!~xC$#R0Mbp8=l&7XtkO1OgKRJOV-jQ36f^K>{=a<N{&>O#)g1ZUU16y#mq#)dJ"
    b"1}#sU-rm;#CdoC3B2;Q|E%Km$kvM*~FzNCVOW$pYa50Ru4uTmz8<z5~Jo#sh={69W(fE(22oi37R=^#dIQMg&j<&I4luWd"
    b"n%=v;*)1CIn{$l?1s2=mY=&9RW=NZvkHcF9A9M4gt{sivSA%=l>-EUjd8(h5=v!b^%lYApzz9Z~$BXumAu7Hvu{UAOSxCC"
    b";|Tf&H!To2>)mR&Hx$#C;=A%LIE@Z76I=7jsUv;Bmk8F_W&9J6ah#9MFBAZ6#>2ghyMKkcL3x79sw)?YXNcrX#rLN3IP}X"
    b"mj4?7lK|HM`~Xk^VF6+RS^*dV(*0Zi>;G&3y8!C|RRMbehXIKJQ2~Jc6aTIMIRKIX%m6_FegU2Vs{wuiC;i0!X#fBJVgRN"
    b"9CIM{$qyfbNq5&!W(Efk_AOMX3+yG?(w*mM8F#;n3004OZ{{E@{XZ|t%3I5mpvi*wvY5my%RRG!lg8x4M2mjsvs{VuiS^h"
    b"Wviva}zjQ}+O@Bg;{ivL#sE&l@l-Toc|mH`|A$N+%=MgSQA;{Uk+i~nW+w*oE#vH@HH83Ek@tpIfZNdOxF^Z!l*!~#YF?*"
    b"Xa-aRER92LagtsQ`Zf=>uE?-2#LHJpuy))&ZLVYymj|4grJ&^#gSS8UxV+mI7x2F9QAn$^o4LAq9~H4+OFUXag$)`U1fMl"
    b"mcD?FapR0HwCf;R0IeF$pe=ITmvlw`~u4YY6jN@Q3de?qXc6FF9h-f!UK;3VgmpG000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000004ylPyZGF-T"
    b"s>XX#O$&`~AB8dHuowL;w!})c>3RSN|mc?Ebd?bpA5_LjlJCi~vyp7XZ@#pZ{k6F8}QQss7mkT>&Hk<N&DvV*oDz_5Z#9d"
    b"jB^6cmn$Y!vTZ=L;?N)$pDT3RR9qH%>NJrlLA=+8Uow_kpWu)9|7h7p#WO|uLCdx_5!v7cmgj1^8vR3d;vEB@Bm%}-UFip"
    b"Vgn-s*#e;gUjifo-2s*X@dR-MH3ahmvjb@ZF9YxbuL5WSAOfKUAO+(Dp#)$A6$IM@ngd+}5Cg{oLI%JEf(1VX{sgiFcLX*"
    b"B_XDj1UjqOD00000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"000000000000000000000000000001ONp91po*D1OWU0`~Up^=Kucx000*N|NjO60|4^>{r~>||NsC0{{II62>=QJ2mtv1"
    b"000I63jqE9{Qrsn1ONp91ONvB1OWX1`Tza@>Hq%!000^Q008{|0{}Px009600092~{{II62ml8F4gmW9000I64gdlG{{ON"
    b"62ml8F0{{X50s!~_`2YL=`2YX^000mG_x}X||NkKX00000000000000000000000000000000000000002ml5E1ONj70s!"
    b"~_`TzU>`2YX^000pH`2YL=1OQwB00000000000000000000000000000000000000002>=2B008{||Nr#={Qv&{1poj500"
    b"0L7|NjF30sv|N00000000000000000000000000000000000000002mk^A008{|008v={r~;{0{{U4000O8{r~;{1OTc40"
    b"00000000000000000000000000000000000000000000000000000000000000007ytkO0092~1OOZW000000000000000"
    b"00000000004*&oF000C4{QtQB00000000000000000000000007ytkO000620s!d$00000000000000000000000005C8x"
    b"G00031`~L#~00000000000000000000000007XSbN009601OVv&0000000000000000000000000000000000000000000"
    b"00000000000000000000007XSbN000620szea000000000000000000000000000000000000000000000000000000000"
    b"000000007ytkO000001OPSw000000000000000000000000000000000000000000000000000000000000000007ytkO0"
    b"00930RS!l0000000000000000000000000000000000000000"
)
"""Worths of pop-outs in hand, then of what could be popped out or dropped: two bytes each, in the
same steps, learned by the same command. From the last mover's side.

In hand: a table by the pop-outs of the last mover and of the other player, and one that counts
times the lateness. Of what stands on the board, if the other player is to move and if the last
mover is: the weights of `AlphaBeta._features`, and those that count times the lateness.
"""


def _learned_worths() -> tuple[list[Any], list[Any]]:
    """Return the worths of pop-outs in hand, and the weights of the features."""
    numbers = np.frombuffer(b85decode(LEARNED_WORTHS), "<i2") * LEARNED_STEP
    in_hand, features = np.split(numbers, [PHASES * 2 * (MOST_IN_HAND + 1) ** 2])
    tables = in_hand.reshape(PHASES, 2, MOST_IN_HAND + 1, MOST_IN_HAND + 1)
    return tables.tolist(), features.reshape(2 * PHASES, 2, 2, -1).tolist()


HAND, FEATURES = _learned_worths()


LEARNED_NETWORKS = (
    b"krcinY#|k+X{REYSSxld8mXhL?xo@-F__e&TBB#6$F8oVi>PT6ETYz!Dx|0*7cK&*9Hv(wew-j6-l=&gVyTuVU69eD(;xq"
    b"%Xeo3n3nnKd=q0xy;2;336eu1p!XaEP7NMynr6j!~BPH3W=A!{FC#Wc?xF!^;cq^44<)3XK4k?kL8!0uVTAN29UM%sUJfO"
    b"CyYYn0#ou#!V!=*1HTp+8X<)~RCV<$u>UL$>+1FdeOHL4e=x1g*XWu)_=X_%#{_$YcJ&7d$KCL+6{u%^r;*{V$?uA%p!%O"
    b"z2uKBHnGr>G#J#g(%oQm9HGo}Hbf>l*v3hOLRHO9A$iToeQ-H=~yzQ>R@hbD=7u4y~Rl=naG#-yhJX*`Em^>lO^87Nu;Tc"
    b"%=)WdZaX^qo|mrD5{{MnjztcHyeVYN1UCp8Yt(eH>5==0HuSa4k$jHe4<{doFq6Mxu_)|SE`&GaHeq|#iOJp-KE1MS0odp"
    b"pDHk@>Ww(4q$q3>vY(8rx+F}n?x~y|P%6l$jF(KPn5M!Vt{@+$4=7(OYnB!;X_5e>@u4fD!69KLBP?(&j4ZgQXrqFtzNAH"
    b"-IG91JPbt~11gOfagDMLmZKQv*d!KZs?Wh2*p`w4R!zpp32r{`V$R#{C(<E=Fj3%5WT&xQ#%&d>0_L)JQn4+~Dxf;ulDk6"
    b"6rJfJopwvg|j?SOO^o)X=fznRRX>75xHi6vJU=oBCyX&ycvR*S!!4w8P6f1LFil^gJ#OOUytvYS(%$rV!~2^w>vRih}Q4j"
    b"@kqupzCcNT5&-xEq0{@{#<U7$DCY+9WR=*Bd{T%blm1&7$KFKqWM#ys+S+G#ri}NStaMm#Y&c7AcRVOCkjwc_ttm#Hv}IC"
    b"n##Fw<C8V5+ul{;3*TTNv6!ByCi@j_8gcnPM>(D6&xR=lBM9FjwZ1v=%@NBtRT0hkD-vTJE)2#ucIfVwxs7MU@4m^U9Xxb"
    b"C@B>wA}CQMS0#$5_oykK10lJi(j||a!=@)F-l!rZ0j$QTg(qmL3>;*n52J0T+9)<H7NF%Sxt%;EXqG4`POEt-KO&bVou_f"
    b"Jwxlf{I}k0SZW#nA6{{{Ln4>=@!Y-#7jH+fS$tl93TAc5n=%;%u9VweD`>1LtBrLz2$0m6!T`ATsR2;G&7%7LM29vxW{-F"
    b"0Ir=t`oY$Vhrp{73|jwNxfnViIuMXYWb@u**@9;C`3@Qi3AO(UnJE+p(I^sMKrPo-F{5FU0WMWl+Kh@#`6Nhw||2A?}5?J"
    b";Q?T_KGh^DDe4k0Jr7VI1}-Ca7biel1O?Whic-=^56b1t3~6c`%KsA}JKCs3V`Mus2+*Z7@(W;H}Fi=O1RN=&$i8(jl*?w"
    b"<R$r%c^3euq@iAE-2_GW+i&A6|hsQ?Wd}-2qb4U>@5p14XE2F{v#=+ydm@<yee|B+%-NW#U*edZiTR|`yyqmwzHEg_pGd{"
    b"x-MWL04!6hDl7`Elr6qB6fqR4ccG6p!6AU8v>~M-a4DpvG#ptZY^1W7Vi<9rYM?opi-IwvU?Oat{+}L@g%#A2_@$~PIh&B"
    b"BT$>LQ<eg$60;BF76`I?j0GUIgu$>I01DXb+{-ueajGn+K)}E~qgCpl9m7E%&@f;MG`lJ=0AEZ(sm=IT^9x1>V(jC#H6CI"
    b"fz0Du4h0Du610Du610001h0Du4h0Du61000000001h0001h0Du4h0Du4h0001h0Du4h0Du4h0Du4h0Du4h0001h0Du4h00"
    b"0000Du4h0Du61000000001h00000000000Du610Du4h0001h0Du4h0Du61000000Du615T&mkI4~G7*DhWsEFYmH05Q8C$"
    b"+4TNGpSQ8g*B0^nW#iCi7F#B955WN1u62XYA=qh<~ED5|0}q%nz5oP?4~20J}9-bVY2WxxEVaRFr^?VPpt8(rl;90E+s%G"
    b"&oeTz(-@YdpD^DufUqwx5Vw&hYbGnK057AUFC|o{=B8CLl%a*DR;ULkK(utVT_y-FP$LL4TPb5L;G|`)gs<AFuB4o<!LIq"
    b"P*QSmzJs|_4-Y?>q0<i=xZMpX((6St<Q=GFX<0@t!n<f-6)3BZ;(Iwd|V=mn&PM;PnOQZd<TrlV{#xmBlG8yI~M6>s<aIJ"
    b"BtY#=5uw57KyM<bOWe=X-2i6&1c0Uc$lIjqGl$sfa?u%rB<`jwZQSTF^x<Stn$Q=tPPP9zg41g_DdiKJ04?-7ZsGo&xDJf"
    b"usbFeMQzyeOusKCW%53ZM+5>zv`Fe<YqTh$n)nTBgV-mnhF4#V1-VswX+D+7<$>x1?Su1hI~(gC&%rl$ix19v`rwa;sk~h"
    b"9jDvE-kDU!zu%(PZSU+U?vhEM<FmP0Hwzx-YP_?&!CT}rKrlJ+NmU=rI;2NlcGnPRva)O93aE5o|$AM`W7-Bsic3Xa4LDA"
    b"q#JS~b*5P=q9-@06)fPXMyOpYfg;u_JD}yLL?<*Zo+Lmk;3U{Avor<9Zo6|rxIG&=9Kb!j3cwb?Tc_JSAi;Yzc0UQh4aH+"
    b"R*S=0c@-Qtp_QfDPxVRy@+`6X0Z#Y#p5kaTG8@b**H^LS`8^n-6(!b%TNVSbYDY(x=CdRO|(7#>00=&aPDZ}x#?>||;F~R"
    b"k@p}Dj_(?HZY_Blef=sh&V|FIS{s;*|Uhc&9Oely1~&ZV8OqO<9?Ah&oDO)*k5tuRotk+91!8mxY|9W`?=FEz%efv`(A%&"
    b"y<FDk$zSA1vIs0xx5?;I&3FQZ2)^*)-I)JT>4b;<Y5R5wSlqbf}3iSGB#UHKzx%Uovg92(8PglB5Zwk0`Dz@u80}M=Yr~L"
    b"@g>gpDh@$kv0!F#;@Nj*)Yd8l`-Zs%rUhupfg@Id9Ew3{hnnpyEHkpnw!43i7=%l^t2i@m9)nqQZ|A({WP<zs4xYu&L_1p"
    b"9yaba*tu&lSh9eq5-{>K>832Q>aN7FQ>;uNTD3DXk~an}H@c{}=(HF!X0=>23$P?UyGKCCX+NUL8AkoUaKsd|k-985Fh-K"
    b"YuRzDa_d;4m&b@8Ndq*(5$HMo+@3w$J1U?l&QNupJcffr_?={)4)W)~KcS8}t6hf)Kk-~C8VZ_`(phi_cPemrg5<@XOo=B"
    b"cSY{(728$I+y=Qviy$-G}c-#+X<xWI|K*SDs&d%mPVe!*usm%Qw*5-v0?b+nv3)VpIp_Pb6&LpH*~3p~d{d9Gc&yf-$wsx"
    b"wo*z_U?04>|R-JuSgMW1RyqmqX$@%{m6Pd9?_lG`2IsX+B`RuEFUsvBHVAf5Aw-yumxU6hPd*g}CcHT)y`@tv=?s?KXwII"
    b"=aq0h_%umQntCG?yv5@7_$kmO+2+g;yHjXNi1WrhqJ>UKsC@m;Xse8Bcvp>S}>9|rmz|@ZZBS~pf`dv!?k!fX)nOB5HJ_F"
    b"Z#O}?w?H2}U@gZqyg7_Epfn}EBe!lYnmDIAj<jsM4?O6-mNpo<0Jes`akY!KZ@)6OOf(BTd?qj>U7Q)5zMg%d&ZzSkks#V"
    b"0_M&>3x1bAzXsAk|Ngbw=KcO>^AR2R=jh2%QVi4Y)v7iE|StQw)1f-1_@u*dj-km|AQzZ+iWF3+pqn@3jCmGwA8JN8lSR@"
    b"c3mzm5HJR+nW$|7wXJQj~27@Go~eUEz|a-N}|u%gJLDYQZ|6)?`TR<Z*y(<z@QawAKsWU}q8FQNssUavtYbu>_|&Mw)s8n"
    b"4Nn-84O~BO@6!3p1`Y5UpSwzA-<liZmmmCav47lq+;EN+x8p9xvLpWGf1*wKtlm>Z1&_o1i4Nx-zPz*R^h^*(^e_e=n4#H"
    b"L~2QD=_3P3@uMJwjZ-2&6)`)CndkEa2$!DSuJRyTByV+W+aZR=_)p;$sE8aq@xfikEw+x;3?6gnHg8AI3wh&|0`yvK&-*2"
    b"3m`A0fEbD_38)>VL#Ambw<P^7&!)GmP8?dIwkGSX0;K#9ccuQSXs3Rm52i>gZIDNzHzfh9-XT6F%$bxSB&38aRH}F-DVYn"
    b"R$|&s}x+|<Ax2c#W84<}WCaxr*Jsx7N7bVaxr!CDa@0aYVsw*WTKdUh;mn;$}y(qdR(54ff(HDg%0xTV;0xB>eN~xeEUn1"
    b"PCq^N1C%N{l&*(}hoTd^K1%PdW-ekC+1d?a%%UMNkc`=e^D-jW3@Co$!$Nh}z&%_|ixwlY>I!YWiR9yB1Shb%C)^su@tP@"
    b"TH1FSVtv7B-T!Ln+ZT?5}FC8KMid*euAYZ?U|ko3x#z3or62RxzF!w6x2bLN2&5!Ws^_N+8NE-L8={W~>ISpfcOHowju-9"
    b"U4j}^|8{jL#=42hb==b46Z@1hng=C#TnWXX_p2W?-_d^?W4+)BBG&`9*&rm86caRg$6B{jTQKq=nqJt<d|Ea;GI|)JEVZ3"
    b"kRg~LXri?kqnmmaNtaF`D4};2L6wmuZW?izG#R;>S{=uhBafpW79Ro}uA6%p0v*|!Z6n|zqNAD}5TM8v4;(olL5**nBBpT"
    b"~60i<1jxRc_OR^0sqm{@bEi^wNkgMmhNV1$Z5-Q#z{Us1Ilqw@KQ!S;p$)wUI7_Zi=B{keE>a92^Q?PBPbS>hn*)%Y;uPG"
    b"X_h#@Sl=CDbsE3Rm#f~@)|HMi=ZX0Z+>gA&-Q+Njwo-X)u+el&A1Jh67QBC0F31Fxf?Tb8}3q$mWSnk^u!H!KktzAi$p6)"
    b"%D)9xKkJrKl*G&nEn&cdQpM0IB4u+N(n=ycxi%WFj0eaUvL^@t}*S)Tl`<VJ=6WE~J|yeyp@9RIG)n?l3SbHX5*@>?KZ`z"
    b"aGggG%On|1SxkXo-n@^Y$^UIN2x9(S+H0iwx_+Qn3(^fO`y0Ebt*0>)uJM*bsVpxSE7|DLzuFv=&F$^gdlq?o~TVCZ=}o~"
    b"Q6txxx2UKbzo_~c8>Sc>2PS+V4=n1RwxTMjcpw&_#v*|z6E3BtGb7fd`7B{7lP-awRvUh$fFN}o-xdUyGOBGOU#Aot<gn?"
    b"Xo-lD0ikg)q0WHiS(2o<T%o*+{b||u)3M)XW(<F)_MkGENm>LkOUn4!8Dx-WM;3-NmgC(PtTOg4rwWvy>DW!;^MJQ+`)Ep"
    b"D2z@k(qJE8=vsSIVRgsIIbo}@4y{vI<U4XEQIrW9_i{~;6`;Gt?IY$|Ofw458D(VE*BQyJqZ)v3OyYpz!%*CjDAv#md=N-"
    b"eP}Rje^A6)sgGe=-ZCh#nE7yrv7PFeq>)L8>7o)+f@N(JUydj;tXjL8n}?%cJY93a)`2urP|L`J5P~87aFiA`-!-q$BC2D"
    b"<+GLCbR++K(C)Hl`72@W~ibl-V7q8nIx?x94s-Z0ih7Fvok;_W~zK3(-^C#hbNwnlqcq(akTNH9VzFmJtr$BnJhdm2qafB"
    b"+$v@%s;aj#C?wV`Y@mZVz^}lp+a)ljma2J{vM6gLAcWPc@S!;-YB7>51F!0=Ii=sG__YV9gsK`BJ|x>LxgyMvyQKmt2rin"
    b"Y{U86Njxl?q_pBkQVWvS8m#A!>aw5y2BBKZ&v>d~s*&6zrSEhs`7#=Dod!iMox{WI$z#4^~6{9YtF(7lFULn|>4ylA4ogj"
    b"{==MdHysGks|z8!HQNSp5@Bb~|^_M^s-r5z3>X{6t&I~-!4JtRD+$|WfdJ|i)q0v*4g%bbCtm7=hqDUM$!btTRZjjPL~$P"
    b"e<F*C7<K?U+U+_bpMNFQua-Y$w&I;~;*g<t)ak`z2f_$SJEK$fu&L<soyKDJAis4zOP<cP0O)T_dR>HmrlB_aO)@^sEdoo"
    b"hV1H8>=cHj-+y<eXBArGAnwOm?#`DLa;z1W+l@u%MC;=U#GaNz#ljWY?KZq7No<dLns9-IHG{5Z7Iv8u%DZxxEv^(^C*j{"
    b"&YB9T&aH_ac^7~x=dDH{%Pd$N?Ivv*x}-d&q@ai;b|}r8X`){ruP78O`=8+@4>Eb3A){U{Y%D&fXeQ(;PA6w4Z7WPFuB;U"
    b"qH>6A?ZYcetR3>McQ7GvwT$zF@#wRiq5UfTh9woP|+a^$~uq`qs$er>aWvQ97=dFONx+D9o>8z0<%P6cU1g)Z@K&8PdEU^"
    b"q7pr9uyH?k2W?JsdM4lN@ah^pwVnWQ7BuQ1P=n500iZX9&D_%L)V`y^?d$+U!_hNa*f`>+|A&W?R0EU{%Ovni>L3?mVv+Z"
    b"@rUIV^#n&N7-T)39N%8Z1I5wJdZZ@T)&C11pFu1}cp)ORDP>U8vZh<{|E?)~?|yDXm$mB`{JbZz@6@vNB<?<f7`Nq%?~q`"
    b"=}(Sb1Sl@nXF_O!ZiP>B_$N2o~1M>@~60+_NA(<qoe^ZFDHYrr!JozH6{k9Kpko*93JbH$RDN<P^KBAc7tjp2%XR#IG5a_"
    b"p`(zfk`^H#(I}-FHXwweKcYIHN}>a#Sf~r8%Ao)#Ng1D)DjgXkv>jWZNhe4cD4>s<9~}=Rou|hk9Gv?kqNG8R^p+7QE*yj"
    b"=7o_Q?Ih7NcD5r9qU!R1W>!P?QmL1I@=@+J)0Du4h0Du610Du610001h0Du4h0Du61000000001h0001h0Du4h0Du4h000"
    b"1h0Du4h0Du4h0Du4h0Du4h0001h0Du4h000000Du4h0Du61000000001h00000000000Du610Du4h0001h0Du4h0Du6100"
    b"0000Du61yR7*!nk-i+d!&#jm9eBM>nx@u=c$ggPPD@;J}{Y?M>HX&;3q4h>MAd;o49u(@-xV_geN_)r6e>hnynbFQKTWUe"
    b"i>_~;<hy|JudRB^&vI4wXCtImZH|8jTpu)pO8bhS27-(@uZ(If-3PZk*P{CF|-7<xhMsqmLE|dz$yVSq9&Cn(6QE>H?xzc"
    b"&J`jqi>ymD-YGk@fh<)kVk*I~aI}*o=qr!10IjR44yppU{ied6lC<q6N2+iuE~Jbw_n^5S&?#~zR-|+&ZKsGZi!0El6&*O"
    b"Z!!eXAD=jQ07b`ljfiEeZ)2i~UX0-aU1s&KSkRi<?Vl7B19ud^2E-?KTKN>8bp)5}*<E#Z2!?ER~dZmS-gCI;VK`DHwyrZ"
    b"P2>?y%9n5NgJEubi(3NWH8D=aZ0jG33Jz!-`j!Y-03Cnd5a+p@!=N~Q^_PN#3HKp<HZ$|hf|FDZehAtS@5;U2}URV0k4+a"
    b">d@03vH9I;(%EBd(My-X&Qk=OQ;BN)^m7r6iZ72_BlE0HT2#izf%Dz$=lja;=rI#3~ISmM-L=Hz-UkORfy8qo_G5OR2S=d"
    b"Z~-4a41-<gr~Nxz%HOKxFw4tq?z)peyx|QA|S||z9c>{f+#X5aiqR0IIf7O)*=$E?XO>~WhM5cKpJo%>Zrw_e7>l-2eryR"
    b"3qW+S8Nrjko3T~8KRnGpV#%b&CpDPAq`h>ysl0kbEyWbV{6N=1+O(26HpTqET*O2}e>aiFk3%XzqQgW)^}L#_)4Tz}j6J7"
    b"BE4?d1WVpX6+BM|1EX2S=Ilf&!j!1j73BjjAX*vf#?mgqWnY<i4Bf5&i5GbQFgR~wo6|_^YvMZZ17r1jQ;;L7$1u;uA?y8"
    b"0@$1^CgHZE|mCM>?R-7ng#?K7S!k}D84WHX?*?=Wv9p|bC(>#qE<?X+bu5H7K`lQXieCA8$OT)6tJBr9040J8NfCnJm!;I"
    b"bFBgRh~gv$0_=rY~DDWVAmq-!kbhEwcMGDlJzqZM0=G-Zn)e-LK0u$1k-sRyGf;N~NbP;VRfLU8jDku$m?@a~|0!9j*bi3"
    b"$bUiAhCI|Ewbk@8L_D|GBIy8_o14vbgY&#a3B3DbtFkF8L;v&TQA<Nc`<Y>Lo-(_!K=tH@v(3%u#oH~GOa5lcr3=W$gL<X"
    b")h|k}_c|D|XuCDOPq0WcPC6hojKCf@k3}Rpls(HooI_?r<~Y#AltX1W#K9TE>pglyFGnQ8dp*;^#Xtr`Im1^pgg+EKOFN*"
    b"ven8N?v%*`wv#xDH)w<oR5W}`W)->t9j6l!5N5z4>Z8KH8&A_<5nKI6`bwmcfcC<{e000000001h0Du610001h0001h0Du"
    b"4h000000Du4h0001h0Du4h0001h0Du610001h0Du4h0Du610Du4h0001h0001h0001h0Du4h0Du610001h0Du4h0Du610D"
    b"u610Du4h0001h000000Du4h000000001h0Du4hm$VhA7rZ8=2dmUIyE(6{47k#_1V7=nNU(V@k~%v+^0o&&UNkGQgtLUew"
    b"K&-{#JzI1lDRN4d$iUrJ-4qkN2ysUr?*8npSR;X)j;z$YBW$cQ#&p^$}TXt{4hQ&8mXYSLN2GdKCZ+xGcq;2w5vkAqcQBU"
    b"Yc~t9tg+ZR;T2Yp=9@{Vo}fIHaHP1Q0wj$ap_#d!2aA>=3!z<*WtagX^PRM#CLgyO5Sl@oQ6XC)Y$L^^P#=$>N*JyqP^7M"
    b"*dm%!hRGEUHY#UW22A;E?o|+pVSe=p^LYiV8J|Kgm|D3oYPa&z8CL(E~yrFiS$Rrn^*&Q>P(i*~<Su(n<HIV17A+d?Hh%b"
    b"CL3oH5^<0Id!hBv=7%Cp}r-7OQX-!5yNt}Gg_{<R>r`K3Uf?Jg8GvoOi587vYqz^;$5u(2(+eWBj4JThoD>oS|Sr7|S2N-"
    b"YH_60xVV)T}MCBB~xNbF}&>Ixoz%5jC}?Pqp+fpD%qcWTvYvwj&UpH>~U(MxbgdJ*#*oEFw=Q$t}MY`YSssR;3%P6{x=;^"
    b"QK!Y*rmuGYbtTB#hfpoNUgJ_ye!5Wz@dvLjwre$*e7NpFR7fRTN~u9Ae(6>VWYvU*CfU$?5>}yhp7Iky{yEr60X)BwJFRg"
    b"!66GNOey6Yk|%to3!}CrQmCCMAE%lZhnyWKa;bGFZz!`B?Wgx9WG62$kf=1OUmS;<=d2v1aU?FMBA}ZpH7SCu?WW@_yC5G"
    b"MtR@61o~X>I-=|3|qAf?ISt0+aY_0h!btxJpIVfbDg(_aC&M-%$f3B}6mMh5``=y&LkSq=oo}^+C#ix%cG9V|QnI(`Ucda"
    b"m~OC^G*fu^CbbQfo=+9z?YS1lW?E3B-b0k14CbgW9K+A;K|K`;m`nXB=wP_j6zEh>|tI;77em@ES%(=Riyg)9Ovhp+pt9;"
    b"<pL9IchH?5F^)Tq*S|zcGHVK`=<OyR&GY8!I_6VXy)#*RVk>?W`{#>Z744qoP}zpqEdLHJ1S;W+Xlw)}SV&E1>12ZJ~6Zt"
    b"R>VQR;T-*eVCw}?H4VZG9`?XXdES=qny(ZK^7er7o7c@pB6-s38jY~yckF%2$4G-rxmQ5#~!aA3>Y`20367maUF1>QlcOu"
    b">KTTL{vh-l45cI-0T<(lN)_ZF&ym-h@TzYpfVBxL-luZ2a<ONt%qzt(RH#=h#4k#msE;D69V>&e2D4rx2{l!%Ua76GJ+C_"
    b"@Qng>N6fWo_+b-QPrYII8f+X1j2Qw71ji#TlUL#kqa4Xy^$ga;XV5&1STP)Qo=(C$JS*$Z96tNqp|E{5}XDzC%m@v|@iX}"
    b"I*7qH{4@+eQNHY)_HlBuPv*)CGAD=G}GPpC~QnJizW8>j-PX(oXzSFc+vd7*wFcBr74d!II~2qq9O#v-byXRqq4f27{12r"
    b"T2B4W)@GcdG}Tmn|GC=Pyq!A*CXtXO<1D9I2=z_O4Pa@-7C96E9S%MWphsm?}IW<*10G1uSr>@g!Rt92in2Oe;t(tEsW5`"
    b"=kW0y0Z!?9jGXzY$_V4w<Yl@u^eGB2qgO_yDKB83aFPQf24P)ilqjnvnIT$526Vt(5?k2gQrw2Ql;c2B`FG%jVKPRl_{<#"
    b"-Yv{2*(q_Z87Pq@Ypr#rA11?@S0$1tTc;4Fbt@&QUL0{7=r0&4E}GhxC#jz!MJ!sTvM!`0^eN&g#~@uWh$AMbO`HXtHY(a"
    b"96e&I}L?IR?q!n5yU7tX#Iv=<zqNOUV{UwB|458{EQzQ+s+9homORUl+Vz6zdC835Ub*|kaTPhf=;wmbicPir@!Xq=Lsj2"
    b"O#f~nM{@2MguPo!I{%$|EB4ye>Cy&n>lxg>Tl@U>ef6)8R`mZ2sq?yTf3ldUABpCMl;X|Dt-SgK5|5}2#6ttKujfh3-;3n"
    b"tYUp0Eck0x^lIS*d6pI5Ec()d_#7*(6V@hM*-X3amb?=d!S_5hUKLJ~3J#M5xOsYOJp)MIRm`leE*Y+^b$ABCB>S7O=XiX"
    b"cbAQ60S3+e40fsI4}pKw~<7oLa7xlJ)(m%_8gS06e#~F*`wVjPALF1imd&uYbZ9P4zO@7IxRp9j33gk1s{?mge<%*sjii("
    b"<E&;bU#6w6oGX;4$}||DGBTZ{^(EIWR-mpRpQdIZy&j6G-loVW-lQ5FgQQO^*r2(j(4xg9QkSkH4x(Qc$)UP|HkPv<zN5{"
    b"mL#R3oPN!$7E*VoQJsbO>btW7pC#t(BHl$FbGM*C`5*slIc%OzOCZO9O-I^sLQKgZXHzWWjFPX@zDJZ6?hortAf1NNAilw"
    b"R_nIY$#OeE7JC!kcACZ)U}cqYKBo~(qbIw}w$FRS*cXC`GPm#D9)!>L&$mL{mIET}!H@hWMoo2e=$BQI#AwHqg|B_>!QVk"
    b"UAUORtnJk0ddraVoDSX{6LI7plD|qpzPRgdt#|S|TwaA0myZlPFphejg^Pz$0;`GbY2WPby0>&nL_)KqyzPa;#t}1Eo%>_"
    b"^Vu`53s<MU8yRl-77;TL#z!MiziU5oTB)ui6;fA?5xfz<gJvFKCUP#9Vdz@oFfx0p|7~GqN);@!zf8BrYzYb!XvjUaG)EW"
    b"O);>W>#6FVjU}t1d?1P?#3>ON(5HPTUaU<h@|!rN#isfuoumLK<{$_!45~jYZz9$xIVbuo7pSAK9H<r}BQSU^K`Q$!NhD;"
    b"j{hnkaq%7Jj`=-pWm#K{_bg!_mcBJ$w>m)iZAf%46Ww#C}%$(vfVyHqafvi)Vf~^xLL^OFNpsqTxEhnI}r<b#_9w~65;<Q"
    b"Pu#3r_&qqC%_&LR}6I31WO^DO(QXfe<t9;4PQ#Vnz!J1%`O?IIs710qeKs3rL;6ezeT=O(HwPAudrWUJaODlDR?D64y_yR"
    b"dL9KCgeT$*Tz}fG&9=!YE&{V4`lO#V`6Q$RwkysU;GxCb0Y`W}*tQU?x^9fUiQJKPd+)_o8JcdM1N1K%qY(k)(yFWi2111"
    b"S<S3gPMaS>mgXFZz>$6-XumS6{vls*Q7BVJR3kDj-e8t<REdSb{%$~3aIrJE~)V!5}yyHVxtHmi5jaS_7zPiCZ%J7N1%x$"
    b"Hkmf0G8+~owW!pk5hn>7S1BK(2O-ia#iLcL^_ujj0TH91f}|#gGN8{RprMQ>dML{%Eg_es0Du4h0Du610Du610001h0Du4"
    b"h0Du61000000001h0001h0Du4h0Du4h0001h0Du4h0Du4h0Du4h0Du4h0001h0Du4h000000Du4h0Du61000000001h000"
    b"00000000Du610Du4h0001h0Du4h0Du61000000Du61o2c6}s;W>U@TpO%i?yny9yI>2?XcIeH?ZR~U?>Ev5H;|x5HS&|qB"
    b"904eybHMQ8;R)&#xP>G%h!?kffU?QMh0)7pr`_z_bZA?I<9zda2wo?XH8jTQU)^kEkpx9hoz@m@thkOfa4{+o{wtc_^bX`"
    b"Lfxwa5c@Oil~9C@+uY|)Uco|L$!A?=rJj+sVj*w*BUxBkFfx;9kaAGr=uI877XI8NTrJ}G%cJjT_DdSqA;$q5~{_nn;{w_"
    b"|Enw{crBbQSuFUp^rD9>2(Vizzb`$ekDhlRjVlc&r6j#9(<?ZwLNt#hRjX^X;jj{}F`M-)+^O2JH7uDh#jrIk$tmM8P$f~"
    b"U#h8Y#u&A9d3b3>=jwLTJ!ZHdj12jS&{3vZCw5aYUT`ngj@vGr6VKG)K52w$su$yeKuPSDwoh^MZYK)YuQL;-dc$`GBmaW"
    b"UKgsOL^do+l#8ZaN3b*xn^{w<OntEs1`gf<K*9Izy)_NzG`x3G_#+c7bvL!n!*`KB%(P%6QzJ}?*{3Z>d24xnr%Ml_SB>a"
    b"8**MyMX8*eeh%#jXaZovc-=tEmtuW*Pn@-=!rgza@q!F0H4nr!XZfrz~l*)vdCy(ya)o(lYlWXRLrLTp5I@av}|kPq9*@V"
    b"Xb7X<gTfz7b|Nj?yRmQp{3U>DY?9{GDJ_e)jv*1zroBh;yy#fIl)E47{O=6gvtHLO1*E$*}<(umBsWsYr~8{=0Bjr1jSp#"
    b"MZsu3S+;<|_Pp@Fg1#y^<j2P?jJSJ0dP0*$Ej~Cv^11LsVa5?e*Tbhl(!GX6^+w-8nM5DL3dlP^RzJl;pFw)R9XzGL*eUf"
    b"eZmi&&-Y}uCKPZE!My@0s{3`>iTOh2e)3HV~FD*VA%Bc`9$*CH$1R`dmZ!iTYlO&Kb2BhY%y(Psh(5-u{m?~$rFsX<u(<d"
    b";nn=mu5sj8l%S+5PQSgSxK{wvTS!?WKm)~%bgJ}!c-2CS~APO4EW8nON;CoC&2bEI-AUoF5U3MiN^bTr~GcdD@}ZY~iTDI"
    b"Xv#xhf+t-67E}@+^Zb)-E+H5-l{T+N^u0c&}}-Wv+dqKP6NwvofSE&7o#A>ns4O9wzrHZ7obIHK~s(XRl|k$0^Ai;H$8!_"
    b"@t^T$0d%i`LJs*?;a8;;HwTDO({k$h$Ijz3c$;<c{sg6;jlW$(m<C(3C0CIPB`*IzdQN7_djq&*eJ<IQb30($VAx0lR)9Q"
    b"ZoooAuR`}kinY%>a6&>nV7ReD^Sp$>w?rv9AVDp}8od(1HNY)Ib-qBr>Oe2P3BjT>X}cG}T*8yS=fxL9wKlK5FTh~J96v)"
    b"r+cpM3000000001h0Du610001h0001h0Du4h000000Du4h0001h0Du4h0001h0Du610001h0Du4h0Du610Du4h0001h000"
    b"1h0001h0Du4h0Du610001h0Du4h0Du610Du610Du4h0001h000000Du4h000000001h0Du4h>AY&Sp0%L7N-#6Huq7@o_b"
    b";q3`8>8e=CrUpw?H1Xa=F_&V>xfO`6xBGnk>aB9l7DXm#|tp+%Z0^<+&|4VKz4?w>mku6g<8)**|2to3IBx`#b17K(vj#@"
    b"4U0Nxx4(ds5y=|1vbepLbzhOh(7P5={p}dv@i!To<1uz1`f@etE1PTBN-+bOP(1OlOFOS|CUA&IGp7kGn|$Z92}`47oRGi"
    b"IvTi^UYH3FGma=1=b$;Aq8PlF5Sd6HL8W6L+?qigVHy#ch!_<l7NH)ZSr;B7qNH;kogCyL4IbT~o}!K;Ya=3}At7&?Oq`~"
    b"aSs=KZ#~!K}v>@=H>!_Ze%&By-V6oq+>oQ0$Lajul$}J|VCoT7!d8%tM^C!q9A~LA3?yq1lgRoPyoGtb;s5F$UJSFy|X)e"
    b"Ps8!Jw+0;`#@+$ZrMX)um5;3&hl?k?=C>#S-gF(1sVo~>ZED>QnrXtX`495o53zc4+o9I{`gjH!by=PygI^(7vu%B^Xm;h"
    b"_nvMXpS#_9nciJ1^F%`Y7ulX(Mc`ZLCKsSS4*FEUA?iWvuhBDJ7klp{whyz%2o*KdI8DJ0mWv$|i6rIUJg-o1|$j?jmz7O"
    b"e#sRoS@$vm!1Hu<Ehb@5G3ud*QzTb2_X3^Z74}A`7j8mZ>mA1W-foMbtHWsgsG4igrLo<ovn!|fGHcGi>xu85-XP|xurIx"
    b"ub*3>5v?$+o-UZFk)T8<y$<TCqKktp&M&bn%nW2M*{t9xB$>P{8Y+dZAt%(V1gpd?t}5K4JS`BdkEiLS050s3)*mP-5-=B"
    b"?aGFyvPasRDS*#qa46j=p&Ztu;NGi}Qj<XA{39*bVXDC{)PN|`<{W3nP{4iIoFe?8wSFubfEUiYe95WrX9x`q*%%q63(y~"
    b"ag1SeT4Wh76p2QZ5(C@m8vATPWtm9Su}r7XBK*Pb)7lB<KSDX`?7Of=>wn=ym5Znbi&O|Bp;0kT)E3!Qo@Y@{r%xUh~I=$"
    b"Z+W0-(N_go^>8TqHXrGXs*M?4EX>iXmzcO$`76`=*PYK!YopH6kCQ#vo#%`ke3{8KHfm*q0T71s%VdUL<Xoh@npofflG8x"
    b"fsbGricffi6fsG*{C~^FObxctekYD3mG3HSfKWp!w?Q3(up`AA|SFJ)f{Y_)*0oErl#gGiMXk>*(gS_(yRkEOshV%8?5ml"
    b"+9_4BR3{}f-7SKwg)pfr4m1z3kFvbB6)WZ~x3DO+J~SDzlrkYSW3iJi7Az31aW;)C^(;y)P9jdR9xSM=`?QU;D=r4HQK)6"
    b"H5v;7Rb2F`}Rj#zJ)v$1}iJYG>@FjY%6fZ)yMx_?0j3-VRk1Ew5Vhw_w_9Y3W>?4T*NTt>wnkiSL*rhG1k18@IR;k`1TA`"
    b"aIAfY3j!YM`!@+d+p_7O20U#(N9iYYUt`6aF-;h&Zo{HZ4?;wPjYFD@D?4ke)*JES8f&LX!cw<OmsS*jx;(j}~_vnKAEI4"
    b"N$ZxU7jPbHIka(L7^5w7adnSG>2nVLSD?2R+d~3PuIOAG+~APr7P5V!N0;ZMjB22*IQ}FukV0#JXp?-?_Xz2f9~5bi*M)d"
    b"r4lp|2=HGguyzy1-%J9@;!q&o<03MP`)9%*g1N-ZM#A|db;L2<369dtw0gHQ@>!mW;__Xlt7NTI=^7N+`1Jvx<_NkF18K1"
    b"u(<&`JiOO9;yhhBmbvz}$T~E*5I3*4MLN8=j6LPI_&LD0fVLyJgtwZwojtv}#yYsURXIF3$G4R@=(QuiA~{3388-Ym`8aV"
    b"wD>)0e{y1AV7dxx8zBd)Q07D`=*STsqMY@T({kVQQpSTIb+P9ms61@qy5jbu)owrxC;x!|;o;G*4k2D!Ld^!2JWV*XHvA3"
    b"Hy-?eTyzqb}UuD9GZ&bcSMnz(VZ_Oa<Sgt`qo__e_|VYVi>YB#jC!@Z3(cenmH#5LeIr8xRFW<k-iF*SoZyEeKvZL?ZGm^"
    b"Y=ilsWjgE;*dDhdGM4cehQrAFl"
)
"""A small network for each phase with pop-outs left, two bytes a number, learned by that command.

It adds what no sum can know: what a pop-out is worth depends on several things at once. The weights
of its inputs (see `AlphaBeta._inputs`) to each hidden unit, then those of the hidden units to its
output, and what is added to that.
"""

INPUTS, HIDDEN = 29, 64
MOST_MARGIN, MOST_CORRECTION, MOST_CELLS, MOST_COLUMNS = 100.0, 30.0, 144, 12
"""More looks like this to the network: it was learned on boards of up to 12x12."""


def _learned_networks() -> tuple[Array, Array]:
    """Return the weights of inputs by phase, and those of hidden units."""
    numbers = np.frombuffer(b85decode(LEARNED_NETWORKS), "<f2").astype(float)
    inputs, output = np.split(numbers, [PHASES * INPUTS * HIDDEN])
    return inputs.reshape(PHASES, INPUTS, HIDDEN), output.reshape(PHASES, HIDDEN + 1)


NETWORKS = _learned_networks()


class Network:
    """The network of a phase and the weights of the features, as one product of matrices.

    The last two columns are the weights of the features and those that count times the lateness.
    They pass through as they are, where a hidden unit below zero counts nothing.
    """

    def __init__(self, phase: int, last_moves: bool):
        network, output = (numbers[phase] for numbers in NETWORKS)
        features = np.array(FEATURES[phase][last_moves]).T
        self.weights = np.zeros((INPUTS, HIDDEN + 2))
        self.weights[:, :HIDDEN] = network
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

    def prize(self, codes: Codes, drops: Actions) -> float:
        """Return what the mover wins, or loses, by zugzwang, as a simpler game has it.

        Each column is a stack of coins, worth the gains of its cells, that the players take in
        turn. It stands on its head: the coin to take first is the lowest empty cell. A coin worth
        no less than the one before it and the one after it makes one coin of the three, worth
        `before - coin + after`: with best play they go in turn, or none of them. A last pair whose
        second coin is worth no less than its first is left alone until only such pairs are left.
        Then whoever is to move must open one, and loses the differences of all of them, the
        prize: with an odd number of empty cells that is the opponent. The other coins fall in
        worth from one to the next in each stack; the players take the greatest of them in turn.
        """
        prize = 0.0
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
        return prize if empty_cells % 2 else -prize

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

    CLOSE = 1e-6
    """Less than values differ by: the width of a window that only asks "better or not"."""

    TABLE_SIZE = 2**18
    """Entries; a new one takes its place from whatever is there, which never stops the clock."""

    LEAP, LEAP_WITH_POPOUTS = 8, 3
    """The last N depths before the end of the game are skipped: they take nearly as long.

    With pop-outs left they visit fewer nodes: up to the third last about a quarter of the whole's.
    """

    LEAD = 5.0
    """Points: a move is settled if all others are worse by more in a search two plies less deep.

    None of 58 such moves changed when the search went on (60,000 nodes, five boards).
    """

    share = staticmethod(even_share)

    def __init__(self, lines: Lines):
        self.lines = lines
        self.known: list[Entry] = [(-1, 0, 0, 0.0, 0)] * self.TABLE_SIZE
        self.held: dict[tuple[float, int, int, int], float] = {}  # what `_in_hand` returned
        self.depth = 0
        self.value = 0.0
        self.values: list[tuple[int, float]] = []  # of each depth that was searched whole
        self.beside = 0.0  # of the positions before the last ply that are being looked at
        self.late = 0.0  # of the same: how far the last third of the board is filled
        self.replies: Actions = []  # of the same: the other player's pop-outs, best first
        self.last_mover, self.phase, self.set = ME, 0, 0  # see `_in_hand` and `LEARNED`
        self.networks: list[Network] = []  # of this phase: the other player is to move, last mover
        self.size = min(lines.cells, MOST_CELLS), min(lines.columns, MOST_COLUMNS)
        self.corrections: list[Correction] = []
        self.corrected: tuple[int, int] | None = None  # last mover and set of the corrections
        self.solved = self.settled = False
        self.sounding = False  # whether this is a search of `_sounded`: it makes no further ones

    def choose(self, position: Position, budget: Budget) -> int:
        """Return the best action that the budget lets us find."""
        self.budget = budget
        actions = self.lines.actions(position)[:]
        left = self.lines.plies_left(position)
        _, _, _, _, mover, own, other = position
        self.last_mover = mover if left % 2 else 3 - mover
        self._correct(own + other, left - 2 * (own + other))
        leap = self.LEAP_WITH_POPOUTS if own or other else self.LEAP
        self.held.clear()
        self.depth, self.values, self.settled = 0, [], False
        self.beside = self.late = 0.0
        self.replies = self._replies(position)
        try:
            for depth in (*range(1, min(left - leap, DEEPEST)), min(left, DEEPEST)):
                self.solved = depth == left
                alpha = -INFINITY
                for index, (gain, action) in enumerate(list(actions)):
                    child = self.lines.play(position, gain, action)
                    if index or self.depth < 2:
                        value = self._look(child, depth, index, alpha, INFINITY)
                    else:
                        value = self._near(child, depth)
                    if value > alpha:
                        alpha = value
                        actions.remove((gain, action))
                        actions.insert(0, (gain, action))
                self.depth, self.value = depth, alpha
                self.values.append((depth, alpha))
                if budget.looks_now() and not self.solved and self._leads(position, actions):
                    self.settled = True
                    break
        except BudgetSpentError:
            self.solved = self.sounding = False
        return actions[0][1]

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

    def _correct(self, popouts: int, empty: int) -> None:
        """Choose the learned numbers for this phase of the game."""
        third = self.lines.cells / 3
        self.phase = (empty > third) + (empty > 2 * third)
        self.set = self.phase if popouts else PHASES + self.phase
        if self.corrected != (self.last_mover, self.set):
            self.corrected = self.last_mover, self.set
            self.corrections = self.lines.corrections(self.last_mover, self.set)
            self.networks = [Network(self.phase, last_moves) for last_moves in (False, True)]

    def _beside(self, position: Position, actions: Actions) -> float:
        """Return what counts for the mover beside expected margins and pop-outs in hand.

        Also keeps the lateness, by which the worth of those in hand changes, and the pop-outs of
        the other player.
        """
        codes, drops, _, _, mover, own, other = position
        correction = self.correction(codes)
        beside = correction if mover == ME else -correction
        empty = self.lines.empty_cells(drops) / self.lines.cells
        self.late = max(0.0, 1 - 3 * empty)
        last_moves = mover == self.last_mover
        features = self._features(position, actions)
        if own or other:
            features += self._inputs(position, empty, beside)
            worth = self.networks[last_moves].worth(features, self.late)
        else:
            steady, late = FEATURES[PHASES + self.phase][last_moves]
            worth = sum(map(mul, steady, features))
            if self.late:
                worth += self.late * sum(map(mul, late, features))
        return beside + (worth if last_moves else -worth)

    def _features(self, position: Position, actions: Actions) -> list[float]:
        """Return what the learned weights count, from the last mover's side.

        That is what the pop-outs of the last mover would gain, what those of the other would, the
        prize of zugzwang (three numbers: if nobody has pop-outs in hand, if only the last mover
        has, if only the other has), the gains of the mover's two best drops, and 1.
        """
        codes, drops, _, _, mover, own, other = position
        mine = self._popout_features([gain for gain, action in actions if action < 0][:own])
        self.replies = self._replies(position)
        theirs = self._popout_features([gain for gain, _ in self.replies[:other]])
        last_moves = mover == self.last_mover
        prizes = [0.0, 0.0, 0.0]
        holders = 0 if (own > 0) == (other > 0) else 1 if (own > 0) == last_moves else 2
        if holders or not own:
            prize = self.lines.prize(codes, drops)
            prizes[holders] = prize if last_moves else -prize
        first = drops[0][0] if drops else 0.0
        second = drops[1][0] if len(drops) > 1 else 0.0
        sides = mine + theirs if last_moves else theirs + mine
        return [*sides, *prizes, first, second, 1.0]

    def _inputs(self, position: Position, empty: float, beside: float) -> list[float]:
        """Return what the network sees besides the features, from the last mover's side.

        That is the pop-outs in hand of the last mover and of the other, the share of empty cells,
        the lateness, whether the last mover is to move, the size of the board, the gains of the
        third and the fourth drop, how many drops there are, and the parts of the evaluation.
        """
        _, drops, total, _, mover, own, other = position
        last_moves = mover == self.last_mover
        hands = (own, other) if last_moves else (other, own)
        margin = max(-MOST_MARGIN, min(total, MOST_MARGIN))
        correction = max(-MOST_CORRECTION, min(beside, MOST_CORRECTION))
        in_hand = self._in_hand(mover, own, other)
        sign = 1 if last_moves else -1
        return [
            *(min(hand, MOST_IN_HAND) for hand in hands),
            empty,
            self.late,
            last_moves,
            *self.size,
            drops[2][0] if len(drops) > 2 else 0.0,
            drops[3][0] if len(drops) > 3 else 0.0,
            len(drops),
            sign * margin,
            sign * correction,
            sign * in_hand,
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

    def correction(self, codes: Codes) -> float:
        """Return what the learned corrections add to my margin."""
        return sum(map(getitem, self.corrections, codes[self.lines.short_lines :]))

    def _in_hand(self, mover: int, own: int, other: int) -> float:
        """Return the worth of the pop-outs in hand to the mover.

        Each move lowers the number of plies left by one, so that it is settled from the start who
        makes the last one, as long as nobody loses a turn. The other player is the one to move when
        the board is full, and has to pop out, at a loss, as often as it still can, while the last
        mover drops into the gap. So pop-outs are worth more to the last mover.
        """
        hands = self.late, mover, own, other
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
        _, drops, total, key, mover, own, other = position
        if depth == 1 and not self.solved and (drops or self.lines.actions(position)):
            more = self.beside
            if own or other:
                more += self._in_hand(mover, own, other)
            return self._frontier(position, alpha - more, beta - more, self.TEMPO) + more
        if depth == 2 and self.solved and not (own or other):
            return self._frontier(position, alpha, beta, 1.0)
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
        best, floor = -INFINITY, alpha
        if depth == 2 and not self.solved:
            self.beside = -self._beside(position, actions)  # hardly changes with one move
            actions, best = self._promising(position, actions, alpha)
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
        self.known[place] = slot, depth, bound, best, best_action
        return best

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

        Also each depth searched with the margin found there, and whether the last one is exact.
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
