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
    b"0So~I4F3KI0|XBK1P%@Z6$S(p1Opil_6iL8{QdX$_xS(<`~mgz0R9mJ{qp<;_wV@d^8EVn0`>Uv_6h&+><AGD6B-Hm2m=Z"
    b"g3K|v_@&^6<3HtpA_~Z2P0|)>N5(xJL1poT}3G)XI2?p;43IhTO1@Z?60R{mA>H-Z1^zsDz{{{yL1ql%W`~?021qlcL`|<"
    b"hw_4W4e`UVFK3I-7w7a#-x1^f;T0SO8S0RR693JClJ0s;8|1OfN*1O)s90|fZ``~v<53K<p(5E2Rn2l@T~`TF|({0RUH1q"
    b"1&F1`i1d5fl9n{Qvp^0Qvj-?C|jJ_3--y2KD>%{RHp!0{#C1_V)bw2m$u?1N;8@`}zU#0rm9w`0)1y{Q(B~{0spG0{8z10"
    b"15jB2LJy300Hy)1^fs5{rm;@3jG25{Q&_3{r&*}1q}TG00RII{R{{R0Sglj3IzZD`~U+60|WaB4Egu=`}zg@2L}E9`ug(o"
    b"_UZWj^!xYs<_7cv_Voy>4FIkR00bZa0002|4gmKA00000=kWmS@&Et;000000000000000000000000000000000000000"
    b"00000U@D>313;+Tf000002@U`P1poj500sO2^y~lt000000000000000000000000000000000000000000000+tT*{1Tp"
    b"~q4FCWD03I~}^y&Zr008yy0O#}o0000000000000000000000000000000000000000000000PE)X00RL42@n7P000g10Q"
    b"~y^00000`~dXm000000000000000000000000000000000000000000000000681OWvD{{jL60s#L01OER31qucM1O)y92"
    b"L1s5`uqF;000960Qvp`2L=84{QUj*`1tw#{Qm#^{QLX`0{Z&{1q2BR2>ky42n7WS1_}HC{r~>}{sI5^`uzU;{Q?02`TYL@"
    b"{r>>`{r~^{`2Yd|0RaO0{{jR80s#5`1Oxc{{`vy|`U3+01_1sA{{I960RsE?|Ni*=`}Y9}1PKQM2@VMk2m=NI3I+ZI1Ofm"
    b"31OEO0`~Lp_{s930{`&*}`uqU}_V)b#{Q?FE3jzZN1OWv7{|ET{{Q>+20|f^D{r?351_%cT00;pA0|5j0{Q>g!^!obx{{I"
    b"C2{`~<4`ThX-0Q~m-{`vs``~Uy@1ONU2{`vg?`TzX(008^{1_A{E0t5v60tN;F{r?98{r>>{{Qv#_0RjR60{{R10Ra5~{{"
    b"#H}0Q&v^{`~;}00{X31p@>J|NjI2`ve392m=NJ{{{m9{{I2}1Ox^K0s8&{`u_j-{Qdg>0Q>X-0|or}0Okb%=>z}=5C8xG0"
    b"Qv?10R#X5008^_0Q&X-00000000000000000000000000000000000000000000001o{L0R0011PK5D000UE00RU700002"
    b"0092~000000000000000000000000000000000000000000000008vz`2hL}009F4000084gml800000`}+X;^8f$<0000"
    b"0000000000000000000000000000000000000002=^!ot&{Qv?A000002>}5A0RR910RH~~{Q&>~000000000000000000"
    b"000000000000000000000000000{{a8}000330RH{|`uhR={R0C71pod40Rja70RZ~{{s9950RaK}{saUB{`>s=`}+I({s"
    b"8{|{Qms?0s#U30RRF60Rsa3`~U(00s;X5{sH~~00aC00R8>}{{H~~0ss8|0RRF1{r>>}1OER10s{X4|NQ;{00092`~U(2{"
    b"r>>|1OWX60|E#D{{sL300I64{Q3X^`2zm@0|x{M0{;UD0|x^E0{;X5{{aF3{`~>`{r&s>00I921ONQ}008{~0R;Q_{Q>?1"
    b"1p@~E{sIF51ONa6`}+F?`~w671_1y51p@&F00#dC0|5j90sj92`uhI<{{H{}1pNa300R940s8*|`~U&{0R#R51po&E{{jK"
    b"}00H^|0R902`vC|71OWpB1pfsD1OWX50|fs3000300ssO50RjU5{{8*}0RaF5|Na90{R0000|WgC{Q&|40|x;80RR630|E"
    b"j9{s0010RjR80s#gD0R{s8{{j5~0Q~;_{{I31{{H|30sQ{)0|58}00IjD0002_1poj600000{r>;}`Tzg`000000000000"
    b"000000000000000000000000000000007`Un8}000CA000003<CfI000000R8^}0SN#A00000000000000000000000000"
    b"0000000000000000000`u6|;_XGd~1ONa40Q~^~0Q~>}000610RH*_0000000000000000000000000000000000000000"
    b"000000QvX-0Q~*{1PK5D000UA00II40002~{s03A0000000000000000000000000000000000000000000000002~1^og"
    b"7{{jI01O@f_{r&&_{{sB||Nr{@{Qd$11pfX4{s0300Q&y|{{8>_1p@~K008{`{sR60{r>;}{{8&@_XYq5`~v*|00#a60RH"
    b"*@`U3j|`TYC^00Z~>0R{p8`}zI{0RsU1{rLg@00sdI{sRC60Ra5}0RH>{{s8&|0|5g7{QwC92?Y!R00sgB{{9C200IC02m"
    b"%BK{{R8{0tp5P{|5i~1^)c}00#g2`UwIA`~Lg^0Q>_31OfsE00RL70Q~?70tp2S0RRR91OEO7{Qv>~{s;mD2LAv7`T_|C2"
    b">%BE_yzv_`~U|3`}zq21pEH{0Ra310|WvB1^@yC0sjF50|fyD0t5d30RaO8{Q3C<0s{a4`T_m@{{I5_`~d_60sZ{}00jR3"
    b"{Qv;{0RjI72L1vB`v3v}000C61Ofj60|NyC1Ofy8{s9341N`~<0|Em7|M~&_{r>*~`1}C`1Ofg10RRO4|NQ^}{Q&|01qS{"
    b"C1p5F200004_vI7-?fn1{4FCWD00;X3|Nj600093100Qg)0000000000000000000000000000000000000000000000Qc"
    b"n-0PXz%5DfqT000O30RR60000300RRH*000000000000000000000000000000000000000000000008^@0{{Z`0Q~^~00"
    b"00J`Tzm_00000{rvy|>;M1&00000000000000000000000000000000000000000002{`vU+1^#J_=000006Z!xF{Qv*}0"
    b"R8;{0qg((0000000000000000000000000000000000000000000000|Ej900II600IC3009950RjR90Rsa9{{sI40ssI2"
    b"0R#jB000320|Ep90RjR50RaI50RR930RjO600IC4{{jL70s#R7{{R940RjF0|NZ;}00RF2{R0630s#R60098~{{a92{Q&>"
    b"{0sR330RsU60RjO50RaL3{Q&;~`~m#@{`>&{{{I631pxj9|Ni~{0Q~{~{{8^~0RaF2{r&&|0RjL50Q>;{|NQ{{0RI2|0ss"
    b"5{{Q>_1{{R2`{sI2{{Qmp^|Nj320R;g51^@p2{s8>}|Ni~~009920R8>|009C30s#B~{{Q^|{Q&;|{Q>{`{`~>}0{;L1`~"
    b"Cs`{`~&^`~m;}0RH{}|NZ?00s;L2{{I300RQ{{0RR2|0ssB|{{a93|Nj6100aL3{{8^|{{sI200964{r&s?0{;B|{rmy{{"
    b"{a5}0RR2{1Ofs50sj91{{a8{{{a8}{sI5}{r>>~0{{O20RRL40RH{}{{I61000311O5H`{sIN~5CHrF00ayG0000B{s8|0"
    b"00000|Na01`Tzg`000000000000000000000000000000000000000000005_z(d60ssUI000003;qEA0RR910RR2~0{Q>"
    b"|000000000000000000000000000000000000000000000{P+d{{r>;}{{R30015&C0000000062008*_0000000000000"
    b"000000000000000000000000000000000Q~p{0R8^}0RI30000UC00000000020002_000000000000000000000000000"
    b"00000000000000000000002|Nj2{0|f&9{{Q{{{Q?020|WsA0RI32{sIF4{s8_21qJ>9{r&(21pom8{{a90{R0620R8?0{"
    b"r>_500I600s#I1{sI34{sI2~{rv*{0RaI30s{d800064009920sR610ss92|NR2}00001{{Q~~0s;O2|NQ|30s#R4|NjC1"
    b"0RaI30|EpB00#g4{{aB}0{;L000063008~}{sIF500003{{I0300IF10RI61{s00000963{{H^`|Ns91{{aC300RO90ssd"
    b"8{r>>~`~v>}{r~_10RRB~|Na640RR911OER30{{X5{s8|00R8|0{{R610{;H~{r>>||Nj610sjO4{s961009C2{sI300Rj"
    b"F3{Qv*}0sjF1{{8*{{{a60{{R5~|Ns8}0RR92{{jI60s;R2{{Q^|{{Q~~0RjI5|Na31{{R62|Na60009C10{s9000I91|N"
    b"i~{0RI600RI30{{R2}{s9000sjI40|Ej5|Nj5|1@;F3`ThU_2mk;801Em5{s9000005}00sB}000000000000000000000"
    b"00000000000000000000000000s630Qvp^0SEv9000X50R90000001`~U^`00000000000000000000000000000000000"
    b"0000000000008^*0RaE~00RC10000C0Ra90000000ssK~_W%F@00000000000000000000000000000000000000000002"
    b"{^8o<={Qv^~000003;_WC0000000IC2{PzF=000000000000000000000000000000000000000000000"
)
"""Corrections by the contents of windows of four cells: a byte each, in steps of 1/32 point.

Learned from deeper searches by `python3 -m benchmarks.training`. There are six sets: one for each
phase with pop-outs left, then one for each phase without. Each has ten tables: two of windows in
rows, by the parity of their height; four of those in diagonals and four of those in columns, by the
parity of the lowest cell's height and by whether the player who makes the last move may pop out of
its column. A table has the codes with an empty cell in order, with 1 for the last mover's tokens.
"""


LEARNED_WORTHS = (
    b"003qG8vpkG)c&vji2if_UH(-5QvL-2kpN8qF8~q%^#9ZU#Q(MbvH!LIm;n+24FUE5-vGw|tN^0`ngE;trvUl^dI4hri~)N"
    b"AX#rIMQUOi@R{>}NQ3BTi#{t~|4FUlI@&WY$_yGq39s-U68UhdkECNabegbs@egcRBoC3K5$O2meRswkfoC3ZA_5uY16ay"
    b"~<QUd}5ngW~x!~*UD76Uv3ivyqo!2|09GXv5B+5!jzI0I$_k^|2JBm_$Ydjx9(5Ca|qQv-<uy#ww8G6Z!5+yoH?zyoUoe*"
    b"?M$_5&~kXaunY`vg!0#RUKW=l~`GU;%dlW&w@?cL75I_5h>+%m35>839@Wc>!(#odJyjU;!Ed&j3FEbpW&g`~V>V9syJVO"
    b"93ST<^ZAq0RKJ!ssQW&837#uS^-!AIROCy!~mlH=l@y&$^h{I`~W`zMFA`U`~b!PiT>38PXNUL8UY^xY5{fuWdS<@3;`ql"
    b"cK`SPbpX)-1OZ6_Tme!6F98Pu_5Dx(*Z*7qzX16FYXNxyb^%%eIRTpe`~Hgm765+$zyLY{bpdPvR{=c%Nd2(>M*rFWN&u1"
    b"o5&=~Kc>!MmOaUPMkNzzG#{WJ5jQ|t@UIB>#oB@OZ004#mH~;(o$^Mo8V*WY)3;y2y#QoX;Y5*Sq=Kr?;h5uFmF8>1m*#5"
    b"x&Z~^=P!vKu{UjQ)x0|4Luwf~O)dH?(YiUCalDFOZf(g3Fbh5%mxIshjCc>)Ro&;h3bj{#-@Jpmp8`T*Ae#{laBe*#7VAp"
    b"!&f?E%LDs{x4tX#raSU<397zyh5Dg92y*R028z8v_0T^8wcba05L990LUd>;lvR%mT0il>&?cMFijjumh3<eFJ9$Q3FN;I"
    b"|CyF9Rt1uTm&uz69fPR?E~5a(F4K*yaTxdK?ULjwgjC7jRbrIYy@QlSp-i6UIYLD000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000006cBY5yz#_x"
    b"{8FjQ(T(DE{vK%Kg9qbpR^>@Bh62iT_mpE&ufXyZ)K}UI7LH$^ei6UjQxu`v27bo&RS4M*sN%qXAn1E&=}l&j6hOc>qKJ4"
    b"gm1~i2^hN?g6y{lmTV|HUSd>-vF!tjsOw^z5;pzLIM;5^#R5Kr2%sRK>;NJn*&M%2LsUpqyl&XSOPf$2m;puz5y---UFQj"
    b"X#+k369eV~)dHphcLHAmvIJuUBLwjS$OE4Pa|2cbH3J9(@d7yo?F6m_eFRnnF9Zby=>xk1oCAjg(*=kHO9dPS_5{%cs05A"
    b"#Vgxn>Fa!Vq00000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"000000000000000000000000000001ONm80{{yE1pxd1`2YO>>;M1%000vJ{r>|1008;_{{Q^{0092~{r?C62>=5C{Qvp?"
    b"000L74*&!J{QqtL0{{j90sspD1pxa0`TzR=>i_@$000jF`TzO<1OP_>|Ns2|0s#L1{Qn662>=EF008^{000mG761hR{{PM"
    b"Y2LJ^C1ONsA0|58`_W%3;_W%C>000yK|NjL5|NjX900000000000000000000000000000000000000002ml5E0{{d70|5"
    b"B{_W%6<_5c0<000yK{{Q#?1psjX00000000000000000000000000000000000000003jhQF0|5X30s!;>`v3j^{{R2~00"
    b"0sI000I6{{QL!00000000000000000000000000000000000000003IGHE1ONa40s!*=`Tzd^{r~^}000;O1OWg40st@o0"
    b"0000000000000000000000000000000000000000000000000000000000000000AOHXW008~}1pp@i000000000000000"
    b"00000000001poj5000I6{Qs^000000000000000000000000009RL6T000620|4#+00000000000000000000000001^@s"
    b"600031`u_|700000000000000000000000007XSbN009601OWa20000000000000000000000000000000000000000000"
    b"00000000000000000000007ytkO000620RZ3s000000000000000000000000000000000000000000000000000000000"
    b"000000007ytkO000001OOcX000000000000000000000000000000000000000000000000000000000000000007ytkO0"
    b"0093000sI0000000000000000000000000000000000000000"
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
    b"b|POGcqvpEFQFBm<SLFV9T2k_IiEtRH?S@#jjlnhmaK5C-W>`hoFMZlEut_m{i?X5zNj6k7ApCsPpc0n9IS9Cubz6TR-*J"
    b"FsFN%t#h|(&0Vi7;EFjD%pqaEN-YT6d)}XE^_@D-gxg-Orh9w>-6s2UKOOfuTS|`k;4x=F^1txYV%Aj5$>mah4C>J>;iXF"
    b"D6BP1LqVvM*iCa9pOJ}fGuhpb8>o+QX8iJ);Q*C?tfD5RPsfF(tuxu-doQ5g-S6eU?Dd!-hw=_^jD^c{hjN16$yjHiVm@g"
    b"fHtM5tyPL@5L%#31z=v>|#U8y$nMt*%(6A|#e5gs0M@y{DP03nZu;wjW6yGceT|(WKEVMWZ2-z9K26+o&?ECmz9)9~UMqU"
    b"!Y5+JDma!x1~?0f}|;<P?$8NSfa-mUKweuWT4!lK9~+DWG1$!&?wF&Eu;b>w<QZGfF-mjdaeAOc%}1|*d}=(9jX*84<$}6"
    b"+8}_ik*XQ0Au=o|@2H`vN+y7)Q>6baA+A9q_>Mv+s;HnW?kpoEO0lIV-yyX!f2j4T9;JmX)GeeejUo3XeKGQ=HXYHKx+LM"
    b"9Ga!PhiK!8(^rFrdUJNNL;jziDOeF~_{;&@r8K@eiXDQvMA2aNySuH6kgeHKnC!os@W~e8$jHs3>ogs#tVHrOpb|7A$uoq"
    b"C2d?0w9<r(mvo{o*B+8=ZsJ(-4>LZPCftDPwwBom_*tQ?pbAfeY8q#^f{xuJoVA)S<+AQ+LMF(d~hsGj#35u~(~prR|F5F"
    b"yeXR+(F>d6QZkdYojBD;L(Gl%AuZ${cQ@yOJEBa;2adHyE8I=&QM(GpO{bo{7UHF`BR{JfpiDY$8;i@hCN;Yo^1i<077+m"
    b"J|J^jj%BnTPWHoZ6BYiRh&nroFo=0EvMBms3R$(HWytP+9p$=WG7)MI;09P@|BOP6{5+g$rM(n)Ty2%6e-{&{3!V=f2i}Y"
    b"%qs0AS*1{>s;MEW(WKQW;V59C2PZSCZJL}aC8ckom9Lv6zbGIk)hth~-<<y`P$74y)Tu=<j<FUJMwEggMxjKhyr>~21Ece"
    b"=WUS+)j3XMOz#S$iA0O%-3?`E)@+3g0=pMeRu&Y3*?=0)62rFf!L?_D>^rfjI|0H~>ahO&t(Ig+7#IM0B9Vj&@G%V~RS|K"
    b"B=^QdJh)gRTXe6N@#AQcrZm8i3>Hl0lzA1-4lC9H^|NwC=|bDAEdhNtZ@TAjx#AE3!7k*o<NQY(oeN13px&L^d-b(lFRL8"
    b"K}fFD@1+v#F%8TP5_jpd$z@H?nx4G%7)>03=N$BP0DN(xdDkW2nEUd#;72P_M19iLQJok22ITDzFNz@hEwrrl=z<wykcl-"
    b"XAL~Xrv%8CZ^0OM=tR!o-I+Ps;Dg}zOgYTzo}3tn5Q2t$TapBX(djq11O@UZKZv%jWIDW-Yt8i!>viOI3@q8mZA$F5U6e>"
    b"n5~8>PbCYi3#ddYKCM15d@vBG@+I{rh8=08B$^-@6(!52eWdJ)!5bGNN1u?Jq8e)?A)~9H3?X5pz@YCL!=;p;V4ety<dxH"
    b"!8<WKyX&?b5y`4dp+Nh=!$DK~55h9JHQlw0&qNvLt%$<rIyD0vY&7o=}tQq~D(WB5H1EQgsM;QGPW+K=k10BmBKqAeZ_>|"
    b"n70Du4h0Du610Du610001h0Du4h0Du61000000001h0001h0Du4h0Du4h0001h0Du4h0Du4h0Du4h0Du4h0001h0Du4h00"
    b"0000Du4h0Du61000000001h00000000000Du610Du4h0001h0Du4h0Du61000000Du61qpEN#h^DKk(vqto@GD=cWTa@T;"
    b"i{XmpeI4FJ}qu3v?W-mt*yc*9i<>DJ+Q|t0xb%#ORjpd4y^+%_ODzmNU)F@d8zEJ5wNN&l&Hn8#<0S$GpjA8q$g0Y2PqG%"
    b"dN2wo2{FSgO)Ba!gB`vs`l_NS?XrlnStuTutf(?2_^sqD#xd(72C&pG`>w4WMknwrX(i1t1Rm5U61Ise2QfFVZ7#7eU@xa"
    b"Hb0`idBcz}x%_&Z}S+O9eF0L~tU$q%66D&EVD5zStHXRM9leGgR|1nl8-=t)(zb$j9g|7x7cP$~P`7Eic1}>7Ox1IyBl&="
    b"q{@~!)>`6_iUex%zWiJ%B6U7@omFC;vwZzKRF&>;Mv>L;TrRVV|bwJv3(dnECpccv>Q4vq-0ps64wCn`QHb|l^f4X$gjQz"
    b"QhWFejCyCMbfTW*0CaA|yPo+NMgU#iY0?7#{X0-5_tPDJ|NrcA^}ZAf75M*s*agx~ZY7B&h5n;~p5OoEadXBB+w74V#TBo"
    b"F;;w=P2Z-BOrh(DWs_+Q7YD=CoB&sNTe{U^DhY^L#9Qhu_rbmqYm4i=POO9cOp$4=PB!)7n}VcP^YLMkDqC+>>PQj;;e@x"
    b"u%MD4{3%o<CZ%hphpG1--KJWpx*_~4f*mF*v?n1j-Ke!5z^B+K3BYm1P`1@Vus`OwZNd=4Gr}RkdOKydUc#!tx<LuOyTU9"
    b"y{=tJi@ja%#$2*ZWayie#?7dn%yS)NHB}6*G?7-<aLBgCp^Ed-P?7|hnowR~FwYvF0IKj8U4YDLXBEOJ596pUSj4X%1D#Q"
    b"%6NGCeBSwT@j5kASW5IRV_*D5nLT%I(!{4trXlrdp0H=Nh6N49*cZ7g*tWVCfOh%RBKma-T$ZL&u&=cwT^MKQ{)hO>V+Ua"
    b"r%tOfgj`b1SyF-z++{ysgMH3ba?Pu&{2eEHO+nKr9He3bq-uNiIw=6|qAw&@Gp=qp!BK0<4~?hNgHfqOmxoqcNu}rL&tjw"
    b">3#OQMuc%?l)*P*{+*6x;Ce*12Skd3$zxms-7gSg&-0t+%3y8Gp)B73pf9@VKlz4s<6<yII^-5#<NH{(K6n$5wdzB)-il7"
    b"2O$qEhq@QBN45v5=rnh+2eeYA4Yyh(a;h^gPB1p85~=Mn05-|1nJWh{;kPrcBEJnoLAegXlr==k<wWDB56O}{s4bhq^*{~"
    b"8h&->lAwpI;P(C=t|3Mta0KECcq`@XeJVY`)?L$Ms?zF2yWy3EtMaIFoue|>>L`NsaXu;#XpTWAi1V<*e%0(o<L^yN2`?@"
    b"bY{62z36*(|Q2f)6%2*rQDXuF`X1H?T&5iVD}b38gYIlw4AXS(;gB|z%5W4NS14l<cPpSW^A`8KA#_ogsG0X=*<U9=^&AU"
    b"syVsJt9Je81H!CAd03VLhRs2t)Zav_K@hC%+Xw%C|(mM?4<0-@*Di&%#r@nZ8oE+c$cxy}ka!g|#R-4Y`fDzCqnN0zHknM"
    b"zCKtJw4Me0j@8#wKBV~$F|fv)Gn&Am@f=5D?JZ6sX0qIW<60owXpIuh%vOUWwW-nW}RUvz_lGUi#0{Gl)U~lOFPgdx-cid"
    b"Au>igBQuOV#W{OGXECTVkh60odo*#pYd6KbOfk2<t3OsaGBp&qzdlpHBs{dc)4KLFG^G2kDj~TedZSjK`56fli>AFKWeep"
    b"c52N28{G$67d8c=w+9Vt%3MOcznVJZvZj42i`=n<e866O&s3iWN+@m&<2&6ue9iIFcZ6R5wWex%tCn7T-$R3y&fTJNIK%Z"
    b"+6yq7c_SfWlEAt9#}OeSQLr=Sd(2%LbNvZ4c_Dx`%REwNZJppI0o@SdNk1~IUhel(1)E3(ZfKr#ax+Ao77wy83-G9_563$"
    b"YwBsH*6tE+p|ZI55Mj3^C0mLoTEz)Haf!Ih-#dpS7^FHLJlgc(A#xX{KH-RyB~S-K_{Iq$%2~yPf|a;H?ofK`iC1W-*qmG"
    b"POsvkSuR7PA`J2bfN(mW+nI~Q?I411ghsDPA8NoJEiTY(l9ih)S%X_<)KKaQX=^*2&K548mPA<f+Iz%cdV<JvmwVO{;%7h"
    b"45T0zVIU_Upd~3SrYSEe2QaxOd@iM|d8s!o9V~#Xyson#G%LLz6tFLzvny^X&nU_(C@)7B3m*w5Au3Cxn5jXW)1|1U94xv"
    b"lT&S$9sGrD{R4NCi)gUUX$(p??nkPZ7M5Hb!Jt?ZHDJc3Jv?mI!Ybbdur>uOFv?D+uLa2hIs~RG%{U*w(4xm>na;IS@cq}"
    b"%nSEw%_cC1vXEG||mIU~QNc`J6Tjt}~lCMKMq{-&5F45*r|kEqS50x?J+o+5`PxU{M*88me+;UuFm<0M<I?K7LIiLyL1x-"
    b"Bj>#xBXN2{J3Sud#Zi*|EeY2d#Lu^)NuKc`0bBtRMg?=cbG_Q7s%XVkbGX4K|+{<1bXUZYXvy3MphR*EH;@0j)2tLAo_BH"
    b"Z)nL{;w6d(Xq@jx~+M!7q9;;KcMgy=NulM;gbCrT^jqDTB5d}a-d(E;vPYn-=NrmN1&jac@+d8+?XnsF`QqNMx7O$Vx%pm"
    b"00v>21C<1r_7$5FXO@x}sFv~{Kb-#@sifu+pq!H)LY_Myx}HUquNK9TKoIm8V4T&SB_XLAwVR5dO`qT)z?n%7kRpbqQl_M"
    b"@`LyS!>n+)?<FGd|3^8$}N->--&!^w4M63fRS}@R=iYy72^D`W=sx&>P*sTn)1TV>~2Q;QGm!_E@FRV=*pD-({!!{_L?Wv"
    b"@!)G$gd2e1mHf2RR5e5jPD$g;&GC?+$fbEc!Rk1$fO0;c$>vMvxSHm+&4hqf51f-V-RRi@gh)F>+`JSYRL-YfX8EG&YpPp"
    b"B*vyDM3ylc{>FyDu*vxFCol4=sSFT&V3XKr6GBP^vpDPo#YxR~tp7m!LZzGALp#IV^maUYiRj4jiwnI4nFcPA%f8^D5J*d"
    b"7}BH7$^-W0;S$6zan|0YpY?TNUYct1gTyyajU-`+#B>QNvuMt0H-9ar6my-C!mHUbg3q-DklA_yserTileeB7pSMD%&vy0"
    b"g{r)sSg2E}W3cZbLagH_pr`1a${{qW(-^g<C#4;oY^c;7Qz}+1MJM>BkE2DYODv$O7_TL)hp9Fsv@AKQ-6Z#=79@8mfhjk"
    b"ui!Ak`Wi0ZeGp>Ru4=Nj{#-s-$i53|uY#l!=StZM;8YrMFh^>Y#x~1nO9~*8YaItZO)2c!xNvOW1B(G_k1g2ReQJIz|;-|"
    b"tcI}s-!IU&#{PN)N`w<njb=cL&v)SW${%dI;v^{_)SKq!B!@~r-)Br=RBtEiZ#9W27CP^b#2lOQ}IsjPaWCn<m<|DIzjj4"
    b"6C05GfL;m?=@N;ix7gm>hJds-Y<xm#gC=4V)|~R3?k8w=Hihx2umS3MD@zOQE)(Tqpr5p(V$wdn6?;Mky66<)Pm%@+k|fd"
    b"aN@qI5E1kx-43-fGKz;fUk%wh^e}$HyDW-C7rq+4J$FHT_6P}DJ<!j^0B@t4X8^jEUcHPg{aajLaYTSSSG`=O|l;$m>amS"
    b"L9iw$W3Vl(rls^L9;kS@)GivM*e#l=87zvQd#IZrd9DsGLN7)#kR|ddv8mlJbFCVp-l@Yf38z7`zOW9f&LW4H>#=Al9WA~"
    b"mQ!U4}$f8m$v!`;V_$_g-^du~z9i_dLXC3S$OC<@bF&Q2u{HIYUzNJE|QJ|ZcOrXyxM=5GB3a0}S3M{1>bEhSw5GX{dBdi"
    b"oEU#t%!TcFnzCMPqU*diY+jH+}fAtN#z4=Jsf<{&39gd`XrF((Qm(IwWP6`M{W`Jdk=si*CyG8}EE1S~71rXbuVCMFOgAf"
    b"F7cdYd^8E1?x7Jt(@PMjwEqT$(H{Q6L1H=_aD72B=CMIijYJ3msQ1?j(sPK%h0D2dcKDLMhRwnW1JJhoCj7fsp&9(kdUVV"
    b"+gINEvkH=Pax<TqaaF?>Ya(2IVdThge9LKhbC?;V60E4?4*jONg*l}TpvRzi>ZbnHLRN@5-ch!qn^hdWS*le_o?ihw6QFw"
    b"6dOt(LZ!ndB&<6a86lQ~(W}m<J}Sy7t|FBeVIVr62q?g)mkR2p3@3^t9i5z}kTBet2B+C3{H(B{$0zV9y{u)Md8w<XVWJB"
    b"pHy$S>EF}A_5G3|3t0p3?>nMV#fTA5Km#c}W45%xwu$rtHi6iMR#3o!MT`=dUn=GxdDkI1n2`XPL+pa0B&n4E3BB|P}?Ii"
    b"Fg>8aMRb|rKcGA&Lj*NLktd7NaU!=+NL6&o=!#;EnI=%~r3v$6ZF(J$d4zo<f^!I?1_T_Z6iR+`_ZrKOiDXB#pT3LOJ2_Z"
    b"S46L8FeEFB*j&(4qRC*&n_p<)kv8PoH%g`y<*TYntO8U!F@LxgJ3t3mGyNFDL_^>!BbW^Q6NVNTO|{c%hG>t{uZ0T^W!V$"
    b"`tDx#hUCR%A~^~R3TF#1(toM|D#?Y?j+)*1Ep&q6&$jcs-B;u$D#<K{F^kP{iyyVR3rtcV5)DVo)!Qj37#^nyNZ=3${k7^"
    b"P$d5y*DDmHK%rkCZY6b}t*iy7$S4sHNf_~{lcWwG2`ZQ*_^B~16d)F*${0+bLb3xSGBK1TQ5S+FDX9vkrzPO6%qB^uOq^#"
    b"X5-8#(7NlS*iJ%6o$u3H!9w_Q4g`_Q=8moCI_@S7jqNkE2G?A&MA*2r{44f~h;hA!knx;9TU8E$iMI_}U@u8n6FQ67C51)"
    b"9Ho+c-rYn-H<&84QM?VS{$2%;^e501Z`rldhHUz^XRk(=$L`JyAIRU?C?*ej(VIg}2hk*MV$Pags+RVj`d%AXZ3%_DCq<|"
    b"yMSRiNJ~G@wzb;4WgOUnfx}O`lFERw5oPho;FW<+3=iTC$9)tPpY>)S$kp$*wP{Evl-QJtQfwpeEa-5G7}&>m&Fm2c#1%4"
    b"XBkML9Yd^>?HIokSHmt${|ZAcA@m5n<w+HBC7NvJR}*Uq%1e3b0hhrv@NZur=CJ1TqpRZ5~ZP~k)v-adM2i-;WEcD$gKw<"
    b"y)AdBqNN<G8?J>RA~9a1WEbZj1RmJ1u`1vre=H@MA+0>E!lnJ0*{ZLt`7xrY4W%Hg6Q<}S+9Y49X{7=yXOVKD`yqy?QYw%"
    b"s4=+%x+oW8gwXPK?E-z9klqV`27Odqfn<gWoaT~m^&!U5(pc|PZ*&>0UdYopWvZx-R{2}a_Q<=ylR-j;+@1jVcC>L)PzL>"
    b"HZOQrD<Z;!>4D50FAfFPYA@E1oSLm`ofdYE;g6r2s1J(^*sMwLOOj-(`?#+>sWT$qoSjTK0oE|7SlIiw^YM5KHsP^G`1M<"
    b"7rh_Z^<1l_ne`R~yBk0Du4h0Du610Du610001h0Du4h0Du61000000001h0001h0Du4h0Du4h0001h0Du4h0Du4h0Du4h0"
    b"Du4h0001h0Du4h000000Du4h0Du61000000001h00000000000Du610Du4h0001h0Du4h0Du61000000Du61*sk^unV_mB"
    b"#v;(KR;&@MYo>UzLa5%cFD0=m3oorBJ1@Z`S*jc_yD@4a(yN)FDj}V;kEs)<Uo1>1#IQl1u(N)#c&M(h%d4&|j4Nfe3aW~"
    b"(fGr-W>@tkA(HPh$WijI;1~2C=`kbgS4xpSb>Lq$EbSU#Fek^gP!YrRCD4gvt{T|sMdbK_)lc(;k{+R5brmfT{cC(nYSg+"
    b"GE?I&I;l&y}kG_-0fNUgG|u&^mA`7ism2B-+NQM2wSD=;D}Q>B}y@)tL#-z4a$WU(Zg;It*I3o#!Z3mjS?o~qcaAs!DNRx"
    b"qcn?wZ^voU0Qa8ZE~leJ0MbC@ecI)~qZn2_@pAm>)Z;lB$g<izk90Gp6<=4JLk_GbGt47cuD<iz#%d+nh73c&Zte&LZI`F"
    b"(Xnf4=m>#XO=G{OC__P`kNFmZ6_A2Os<J8Pop**uOL&W3?rZ~iy(<Ay{%3lF0neW4y(8<c%{Z8AFsP15HO6Z=BP2I#hi~H"
    b"t)=3n7cI*s;G^m;@h8ctgdgH2{G!;U5vesHWGPjzuBm07jieB%oFuHL#i^1Rvn#`)J*XNbEG{V}U8<TU?VJb}V<s;qRHKh"
    b"Dp{cScPAp=sPLy0LZlnAk&LWs3(I{Y{Kc#yto~W{^ZJ!Mv+^KA+jjZ@3Yn_B9Qkos4{W)Q?GB-Ft#X$W;O13b@jKf01vOV"
    b"0rU&3g`#W|zC{Wq7yBf)S#;=M4whd&Cu{<l0kg+X3FwZ&{h+C~1y>OXEocs>8RLBb}eFuhr~>_&aO^+c>Xhs71Ts=tH1<u"
    b"=*CWWftU@J87{3BEkQyhHa!?m=F^zsE{Dra|Jx3^l~6UNa=DT`V@Txiyux=Cm|6JG8B-!ZTzxAh3t5Nj6kD^R_lMJGLz<o"
    b"U=GNVy+Q1uCiA)Wi#WISuz8&dzqE8Q?X>Uk}nQ4!LaTkxvko@Tr9b=dp3NvinPVG0X4KYoG{3&bdHj=1vm+|lQQ3`d8stC"
    b"4X&#)wz2lJ601-#eK5E<v$Eo{X*H5Eq%{66_%re{YP1luKDJ9Me6Iqpz%4<sfG}bgcs9bU-z{gYCpHMQ=B`ex$E_tcLM*2"
    b"?r#1yII<fMyP%bSQxiqmer?FBr$*+VkYA2>06EW%@$g;{ZQ>ra6EU~~Y;3JQ+Oe)qc0I?FUy{>RG=DnpryTYfsFSzE#pR-"
    b"6qh(vlmy{t08-!X$ht-NNi+`U0V=sW|!AUe@0V8kUnKgHuafW8Pi_`rs)7Q-Jz{=6E(Gp@zF6i1`GilZCGv&f%4dB>1CB}"
    b"Gv{7DK(dFUS}|3Pel2*~t3B?lgHq)Wh<{!@qq!vPQ$kp~YB3000000001h0Du610001h0001h0Du4h000000Du4h0001h0"
    b"Du4h0001h0Du610001h0Du4h0Du610Du4h0001h0001h0001h0Du4h0Du610001h0Du4h0Du610Du610Du4h0001h00000"
    b"0Du4h000000001h0Du4hiMC8OKQ@-Q+qF%zzp^DWQmC9aG&0^bk)2^Q=s1=;ExtA`Lo^L2&^j7506R_*C$PY<TBWQwW<D9"
    b"WCNKW2tR;S_m8=!Ng0)&bWHER=Lb=L3zOULl!Yb3gskz;!zp`R5xjjC+TD31KAf=(Qpf@qOY&6ujJ~o1_x;RHNr5u<ZuB4"
    b"@+N~6n`(xZhUm?ha5lB9--3#bGoGok$(teeLqF(Tom!67o4{u*Ex#T{6nTA(DSz90am3z#|`n5Y7wbsI{O#3HDqWEoE%NT"
    b"afx9i@dK_@D<6U7Y$DcOb7I)S=HI<_rRwsv3Nrgrn)Bf*VRAaVT6OF`@7s#jQ@Tgf0`QD6{6TSrYFvgtL+~PqczHq&3biF"
    b"sk1z&a9p!a4<wLUnpB5mM533hOjFs|17ty1TI3XF)6t%MK8CpAh!Ij#Gk>c11j&Uh_2_bDx!$3A~F>%gDKjr;GM^>wKb9?"
    b"z_gJpcrALbZ7rIu*|GJg0H9hhB&<6yvmxu8T9l3;f0aFz_^VE+q9L;%sHJbJRxN;=oGJsTN29|dyCgy@HK^>C3@qmuDlG-"
    b"7LaWH6?jy6TWUUyb@unu6%AH@QT%{K&TB5Bf1tB^p%qmE#0-&;>EvaE9*Pv}AFsuZw;io<*Os5JY+Z7b4W|Gb&sw=7`Q7O"
    b"_QcN&eP8iaWmR3k|qf+%_^S(>k!#1#`DMyQY{zNm<w<{)5~V5S+MNg%DG45?L|Krj}qjU<Vm7%uOuaHs+(fvRsPJ*CitY9"
    b"_BLR*#CXa;P$;&!M0!${%T}y{af7d@=u}uoaaZ@+~5!i<zS#`6xsvCalOQ6Cb&&O{vk444`@#8?WuMQKgEQsi#ve<}aVEb"
    b"~WCyqBQm}Pch^ztSZtk4y*|r(J`Q+rK9^K%`Nw`1hj*+b}g);SFo=!Ev}%jEufYoQl^KeW~lWj-m4chQL(eL)GtG=sV*z7"
    b"fH9jYA*&6v^RcP1Wi2c*x~;UZv9ZoDsxMxu8Z28gJreU3pd^=|WTD?8QJ}e*p&5&uN}~dq4VhLQmm|%goskfaOPi`3MIg?"
    b"QNtW`FL!qgfo1Cke#-7lcf2QpeQK9Xhx}Btr^cB)0SeE@E!=1vMWgQ_E#iU_}i=yTnyCe>m!I=0DG7#aIH4ZnJuN1DHV4!"
    b"EB{U8{lUm|*+#-aN!PqjcbIWE2=k+KLJ2{CG^Lo%u_bFbtmGB!&u^`cNL#V+QsktvOy6g0aet2ITh2d(a=BQzc@kuha0d9"
    b"%tcIx=RY<1AvSiz;ccRi|m7G%Zjo8>_FW(J;%g$R->ta-j?yWw8t`b0RCU=`qbRW-{$9G%{kbAFR8eo2+rIzp9j>`7Aje>"
    b"!{`~^`r~1A15@ebgRj$*(%g5KCKI}RWNd<A1wKr7b=CY`zk=3IVII3hpXBw_aa*>E+uv+{V1g@{ik85*eGGB_?{LnCoU)>"
    b"*Qq=$GA|}A8?K<Q#F(O;>MPhDysg_VK%fB`y_}OR+$pK09;{m}D=md6fv9ex#V7Ht$R`G&yc@r$P$XxfMju5a(;+FJ2(1B"
    b"~DkeUwDJl`D_nJ-}eyf13UnlOX^{-2aLadt{e5Y3_^QI;Z&Z|tV3M9>~HY{)_U8Kh>og_P|`6!hslq>8WU#v&3*d%H(XD!"
    b"{Pm@mMrSt}VNjin`|o2B-wFs%|F7Oos9GbqQa-zq5_W~llpeXP(dg(54cJ1Tf3JF!?OoS{Ce+NqqOWvqj%OewXfR;qEW*{"
    b"rx2;3;&WLMmyjLn@sp<E9fOTAN>*)vXt<mY}4oz^~ydDy$G5=96_OOB=K<xt>n29;VhLCNIOKkgSTS@gPbm>Kt7u>!}}_N"
    b"v^F4c^YV;|DZ!F;v;CM$tujJ^`z3QyB9wwuPq9sI;6I*^{o>j0jmKTrKV%4%q)_hpQ26~Fsvsdd@c2$!lgs4qA8TDbs&MH"
    b"n<S$!&874$D5*59^{Oo*;4LDq120Xgtt_dg{H(bw46q0)!y19B5S(kI{wBPrnJWS$3NAq>`5+3ar7Wf`MVD=*Y%89uSE<D"
    b"yu#`x!nX<Z>*cFAPL$9+R$E-}SbE%}HqNvualPZ-kQ83vi@u~5sx*Q-WDI^grUZJC`YcY2!p0Mbyi>=S13$dv$0-(~L@~K"
    b"3$iZ76?cd&S^0xKafH!S5P6_I}>#;f(PAtq@Uw<_bL%%a1rhb`MCQYZbIrYGenBpLcC1E(gaWSNv82_#b`W2jmlIGh_L2B"
    b"3r-exU4^yeQ))(4h39f}$NHF`(R`+!cK#e5etkJg@mC-w?|plAL^u=PINyek}qXbSlxI94bd35}n48<t1Z|9j*<YS*AFqF"
    b"Q%@kIT>*lhbAK=@un}OqNX3I7bCWsz@QPSI~)xs*rQ<{oS@Af8KLW`aG?(yMJb&gej;NeznWYhHk7`nyPcdM#1p@v@{-1?"
    b"Pa~2fnH{~TX{17;ZYcnl5~@g*r5)!ea3%hry`@qjlp}K?aUuL20u~FYyd_Po6DY-<MWOtfiK&(e<EXEw6{AEdTmtMT<S&+"
    b";r<Ic@teuvjR3vREz?^KPDX9@Au^c3zcd0xY-<#YP2&Mh4hp0^%+omk5t03MdI+g|~GYS`>ORSNn)G<J%Wh@n{xu9<tWGF"
    b"l=p{-shbtRl4BrBewAQyX*aH)hYFrZy4r63uyH6i+>J{zbQk*=sGUZVS@swsV@qpQLkv!@y)D<vGK9jD;0Ivu$p4wzLeZ6"
    b"|jh?GV{0%O*o6)~7TUa;$Hr>Z_q54=8FWex4tyL7u#<GoXbg8Y~H&PpGt_j<1guHL^&jfToh5&?rDBATCFy1RmCy9wV}&M"
    b"=Ly%_9g(VlO(MuETvc&%cnIUwh~LDVI2;hxtwPqE1^-IX&uuPJ|{aQ!y5x4>YZ04ilBBNfS`gK#v%xyi4&e7Zm9ek!lXeV"
    b"u_48r4Iq!BNTc~Brle6Ff*7TdMy979;3r;@%A&)m>nFtt&>g51{-5a@NfbpLAsiQ?NuY}yQJt`wAsK}v@0oR<A*f*^DI7_"
    b"pyeFNi3MtZ~?~)IoswV}bKPvep6eRDQ<|*W%oeX`Up(0}?i66eOlO#Q*izNUcP^?KTtfF3}@S)GCQm0cUZZK>yfvoW;lp("
    b"RJK$&!zq9HCQ3$53TiXY&i@`$aZ2$}SvdoP-;AFD1WSfp;MS*ft9P^&<SQkYDpHl%7TD5Qm{)}yebNg^sFYM+6x4VQ|kR1"
    b"iw2?;pG`+OF1}@2GVkj;<0NOP)}sQ!2o)!YQz$_ox4&&ZF5QULI&ICX`ty{46CMMI<JxSu7e6mng0v5FaNOXC+=BBCO!0U"
    b"!sqpOCW_T@g`_4&yYAJnh+(KJh63~RU!<c?VF=1B(Zn1d!Xi{CmsnV4y^2~QK%d#ah(w)xgp>vG%zTpO|x{YEU9xP46&Re"
    b"1}W{YwXqo_n<^a|Wt~c?7b5Mg#U$VqbS^`v-<J0#OdkTFEF|i(ryhWu1FhU4SsX$jg`{Aj`6x%C6so)-DjvZrJEjMq2d8u"
    b"y4J_oTN-))>Xsrw+B`v?4yA({WF{tIHHZRL02c!oe3Z+pe866my6^&=5Nv%OFx}%|}z9{J>xHICWbf~1KeVZ^Rx*`@Gs-}"
    b"afy(~nho2dgSDyA=>lBJxgQ7m<!<)z#c&#bwWS&{!0|DVe#Ga1++n;UAGsiIjbyd{^GZzb}b${nkpK&IWJ3YfH?oFEn^kD"
    b">^oPN6d*gBZ}EY7<G7cBQnPPL@@rY^X4u$Rn#8L8gHvT_DCIvYb1hgPv+1BA*JLCM8=Qi>qc0N+hHq|0l?dh$Gb+?5Gr*&"
    b"KLx!@*(G%I-QH1DkLzWtRW*H{+{n0WS(WA0Du4h0Du610Du610001h0Du4h0Du61000000001h0001h0Du4h0Du4h0001h"
    b"0Du4h0Du4h0Du4h0Du4h0001h0Du4h000000Du4h0Du61000000001h00000000000Du610Du4h0001h0Du4h0Du610000"
    b"00Du61j<dHSJ1il%qA3Bckt=AfoiFdMBbT7F`Yib@NHXa$BqL#@Zl!!G%PbY3DYXnU=P*9Dx2Kn>^Q_4!D6V0+rM42WkhN"
    b">Ld98Ie@+aT8%d0xA(62<S{Vr3X^DToO7%~X99yLcV3Nb4*^eB5E)veej8!hLiRWYx!doBkjKC!x#?I`jlVX|B&zOnSMy&"
    b"q~XDIlFSN2GSN*RBQ-@};n#)vyh&OD=D-rLHS2(5$4hRWbszIJiTyx*V%2tgw+Y&LMEFX0GM5{irytHM5*2wj`t_XEdCuz"
    b"cAITkgDOcb~NF(7_9uUd!a<Cez20VM7PzUxF}d4<fXMN_^L9V8mqV@%@j5(nWy3_Sghin6ehr=rYH=celWb1aU{wc?Jn`E"
    b"qbqur<e@dBn4|9@=BVH$sUQa+nJWaQ>MF1&=pEcFe5q}z#IQ6d38fXV+o^{rxi7n*Fek3AYO0nkexS4`_$JI8!WaY~L9Qw"
    b"-3a*{0AD`1FzOr?z`6j*_KP!hPD5aP!FQf9SFDj9t`>3U-DXL|o8ZYprj-GHP7pq(;q%iIyqp2p5F&W0FxvaAxSE@54kge"
    b"z;RHz`OB^J=BP%2t1qoo0^RjYZd`YHb?Yb4&8(jwt2gDn=SB&xujUaRz+rX(+<l$Q3ZZK-r8aV3AK!7Rop%t4gA6G%)&sX"
    b"rx12*?pRw!vh+9>Z!u{=@pn1HnDWpTPpbL&ASS+q@LHu|h;TtV97rTRd?<Sj0a=L`V$EnKCms13bjUgEwu&IK+BGHA1*Qy"
    b"G5Wvwa88|Si_M;SIX5m@x|Ij-9<1({yDa{v_MC|o;K{iL_*0ktG;?ZZZ$eMA}J=cO*PoCWhvLSwy+8~d9`GyqBR~cH>ImJ"
    b"WjCTVGq!~_^f6GkLA290iZq@zjI#zgt1n=za55UQel_^DzP9$XgSLY;OsO)h3#}WrjW9H_>M=LC^|KGOimrM#*|K%6O06l"
    b"jFgVAyVKFu}GP2>bFSal-cr>B0F)V|w3#pSfF|l~CX)RDQDY2ZX#W6u9X`#WZ5U3U)D6ftzo-cE!!7M5>eKQ6qZ6|uM4l%"
    b"N_{<ChfkFaqyX{&QJi#2;O=rA#@<|dM_7BOowVzd}953!Rp_b-Glf~q*J?y_U9k*^psVX&$(MW=`xA1S&fSu-=Ih^W;vDa"
    b"S%RQpGOAwz1>LHbln3!#(9ZRzn%Wg+i4@6FDD7OF{5F%smIhOreJ{O2p8<8pJoeoIicJIX#EJD#p@B*T9OVce98^O*r>Bv"
    b"PdAkyuQ-FX2vi(HbuU>^FOu5&qx%%zDG951H|mbvAumW`op?An??RTwZzXv6hpu=000000001h0Du610001h0001h0Du4h"
    b"000000Du4h0001h0Du4h0001h0Du610001h0Du4h0Du610Du4h0001h0001h0001h0Du4h0Du610001h0Du4h0Du610Du6"
    b"10Du4h0001h000000Du4h000000001h0Du4hYA~psGd2;kO0rWqy09oU(=Gv^Z>+^JsVm<g96cN>GnSS#)GUrR=Q|9o$+*"
    b"iZ9<qS6`#9boRyF%JAS|P<|1XUsw5IE}l(FD5IjiEb>@=@D*ElI6aW)dHo3LiN6slah3ANv@ld%XYilmMyg*EQB`#JWr0I"
    b"Wr}NI#q~N1y<a9Hk7VHlW}g6rrb_Bqx-eu%cTRzNPskEu)E`@0bK3)|?NZb)RRU;F=%;UZ4L7h8^dl>m~xB2$uRFJEcIL6"
    b"`z9|;|@Tcy(NVkm=TSf8lz~D=%c@!C7mb`xF;BwS);2Y*dkn_^q!WYESUD2Q6Yd48=%$^Qi8RfK`h{_{jjsG`LYGFDKWe+"
    b"gRx2|@v2xbNit+HjIT^CQZL;pIxiq9^R(zG<snF|nW$7Njxh<c@DT#8g{(?6B{dPQgs_q&D68`=GOswO@F>o-{wVpf2sC3"
    b"S(5giziLbn|Z8TXdKClii*DS#z2rZMKl(GgZJT4QUwJeLL5iLTRh9!fcwWJ8G-mCJL04!G^cBP)KV3Zdn{v|3UJ)zv82^@"
    b"|n3nY=B`Yz6?;+zg8q^xkI>?6w_u&B(X_##cD79jvBZKV4sRHAMusVK-SV;{AsE-CIEdL@*rpc*YGaH(UaZLmq9>!ekivz"
    b"_WIfGzu>q9mE2?J3Be=_pqgXPA4a2qhjUEH6<bry(IAL>YymQz2<9jH+TQw<P5f2_uoEfGKhwHKmZCO&xxx?;U}kh%PCpC"
    b">ka#IIIU8OB!vesHS$L-lT=B+p9V#d#OR211a<zZ!ASAVy8)?_bcfmIxncEP@k5bPbp0tB&0$s)U5TZGo)lBH7#c-cCiGm"
    b"5~<d$_c3=Q6D(z!>oC@xuBvk(o3fWP;H@7a*`U2C3n&368m8neCa`?5PqQAVYA9%_man8OekZpjh^DhGk0j<Xs<3#m5iF)"
    b"PZ?C$vvZ3*#i=^nSZZ%{wKP;lK>9SxDc%w2dLaI?1Ij_(xtSiH^N3G|rn3t)BI3|;z`kerwcO;)6+!XH+$(OgF+>_dou@G"
    b"XG8<!~$P!$M~#~wM5)19!J101H9P#G$e!y)q{$e~Z1IGjI}0+O1QW0sE@@f}f|xRR}vog*?H52Y2BTbk^kkQo`4bR10?Bc"
    b"@@PH<Y%R%AQM~x*;bV7?#(Zp&Ejnilhz}q_oc^awST)j<z|O_c3RwP&Ch>x3Ebpz$n@^@S6Xx@~Kj?xUMOx|1mwRVyK-kg"
    b"(Xa_Xf;}={WEGZKCrhV<0~4j<TGTcOElfGk}MdjbTOzS0l0%AJ2RcI_p+9%&@TqHsIN7s<R<s1_^)9n6EKuE^&{z<Y^9~7"
    b"cCIb2Go4^5>>|h}pA6+JWG5M~J}rc*{;cwsaVbiu5Uwn+IxYaKy{w5ZM=O@B<EVY9wJ1)ht_?RTk)sDJ=d5um;w&2}DK5O"
    b"HaiKgXC!PZ>uPHDtnIm*Bhb>ep!3sgGAt4?rzaRcAcdq0v78aGO11ys*`Ybl8U94Uz#ikIXXQb1iULnV+RVfdi$fZK8cBE"
    b"n^51r$g%B;j8p{KJe?5m@oR<73`$E*${KCUFHU8Z27H>pUXxUc#k-J@Qe(2Vn*a-*oH-lkQci>9)ubuM5hv8ZIGq^rrGb&"
    b"RqoVxnav?W#vEQYhCNoSUk!7b&nL&>p^~z#yfueIPxAhN@JgOCq|QwIzC>hbAZ}E2a1;UldI!*)DygSF0MF@2Fm?T&TDl`"
    b">F<|_@RlZ%cs7jPOX!waV2ON&LV0dc^9xHhN+|{%nT5s->ZhC6ew_{J*~VeccxLBs3uk?+O3|J@}t<N9-$Ga87vB+MyWfd"
    b"&!vZ)@S%n!1RkEC9IR=ig(h~SmL#zx+bdlr7bi?4o12iO3nrhPz9bu^@2E|xf~yv#->g<7-KPeuA}og_cBN0Is;e#{<DeW"
    b"Np_o0am7b)bl`2Xh#G=V3Jt|i$#H8G$Ca6Rrh%LIT_bNrK!6+`E!>ZmUGpQLUs;2{}c&O&2_$DTyuqo`TxvhvJS(DqVp(U"
    b"*{5UwFDsHl=NAE8bxA*rOPvZ&!H0IemmU6Y=$Teb4CATWxl{;UD1HZsC7a4p}a53AXzy(hab{V(k-gEUnskube51+1EefV"
    b"A)-vm7ofx++ew0krJ0-zHG8l&`Ftel+nc`>{2o5UeM+Evx{o0001h000000Du4h000000Du610Du4h0Du610Du610Du610"
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
    b"00000000000Du610001h0Du4h0Du4h0000000000000000001he5_g{D4(6EFtZf4Lo45?ejo!Zd8}os_9sCfe<qctY$rX"
    b"ZB`38ahNRgeHz;JV>8+tF=C8^sAe6%@rlZv;wiGL>q@wqvzbSqhK_A_gF`|8{-YHn52r1ASLoFq&VVr8BV<k+c%cUwT2O$"
    b"}t%B7Gl^DOM7fGB?;+p+tl000000001h0Du4h0Du610001h0Du610000000000000000001h0001h0Du4h0001h0Du610D"
    b"u4h0Du610Du610Du610Du4h0001h0Du610Du610001h000000001h0000000000000000Du4h0001h0001h0001h0Du4h0"
    b"00000Du4h0Du61000000Du4h0Du610Du4h0Du610Du610Du61000000Du4h0001h0Du610Du4h0Du4h0Du4h0Du610Du61"
    b"0Du4h000000001h0001h0001h000000001h0Du610Du610Du610Du610000038WCGKPZr!wVw_lN2u|gZLH}k5~^^o)}~%"
    b"3Yb1>(H!ejh1||rkMWe^5;;9fRrliUx9VW^wOQ9{Qkf`=31**s*x+RUH^&i6|T&5!(eW~rJCaMuHjVDvDcpqJ<RiqxEY9y"
    b"yAdMrpI?JYSaOeU=<GN^zZw5a2sKdjcMlqyvh&MU7Wzo}1*tR=ai9-{3Yl&iO)ZLX*=$S5bT3$F_*W|~PRS}dNWS)16eWF"
    b"Eew609dEo+oUm!>UOvg`g80!HhhfJ{b!to+nWmP@&nMgQd7645-$p2P+yR`YDbbr=e9LO0S(JE+C4m4KCpvrK&?P>n9Wx6"
    b"`v}iy2N)q5H%t_N<Di%A;2`i7PlqCSv+*VJH9`xp+M=mrmoh&#lQzZHasgkt3Ja(i99*FKf(pVPQ6e(89)EUhrEkCQot^?"
    b">%79cWI0N@%{)m(`L+SADZWv)biFD*<~)BuJ-tLW1w`IC)2j-??<}D}m_x@l{<Z%#r7vMW000000Du610001h0001h0Du4"
    b"h0001h000000Du4h0001h0Du4h0Du610000000000000000Du61000000Du610001h0Du4h0Du610001h0Du610001h0Du"
    b"4h0Du4h0Du4h0Du610001h0001h0Du4h0Du4h000000Du4h0000000000000000Du4h000000000000000000000000000"
    b"000000000001h0001h0Du4h0Du4h0Du4h00000000000Du4h000000Du4h0Du4h0Du4h0Du4h0Du610Du610Du4h0001h0"
    b"Du61000000Du4hPCaqJTRnumD8E?5%0ZktBE+}C@V+cRCqw}<N;@w>13)4@zPYQuMMVX~%DghgQ@K1uK0{tSOutdW{=;oO"
    b"?Y|j8Sj7Ccfx{=fgFSh~tiNu;MZVQK8$9SZqB>K)rovan1VITqvBnC+NIy46t-bcdwY8rz8$fltP{W?McDtTB*ESQPX1#v"
    b"B&#+*;vo3@@Z7jn$NVb$W@3(e22s&22&N-1i12<wNMY3M9`7{Z@ySw8%mn>N{(K%#6DLOH_u0i-RRzi2U6EVp<z`26EG&w"
    b"rDU%M(e;l6deTeTuP9J!XLm_35K<GFq_T)L4uBRvEulrz1y_Ob>%TRmC3J35xYA2*qvWjgvgzCD0DdO#07{kW67B0YJ%pR"
    b"{Q}Kt4;T(YPYL@VU7>sxpbSZ8ZZwg0;aTcRId0MLzqwGCbHfZMSkbIXqH46sJo$O*vIO%Bt?Y^AXX!i@S(AeLOh7_By~k="
    b"Df~0R5=E^r#!j5I=iVqVLQwv1t3<LtDGgA<`?mf_n+t=XPpZqq@4MTfS`mNDy795a+{SMy%;#4PXVNtF^sgIvX2)dejLUZ"
    b"(;-%#N}cbSr=SrPj-TY1rI@UriJLwm@0-=4e4)@Cb(Ue3O&wPxR2~NmQk`)d`;u6qhaHR^Oc_R?a~uyC3>*v<$(X31n=#d"
    b"|g&<a?#hT6`^e|~KgrpcN>=(Eml{Av6U9G&PMl7-{_Ai5|wzGMvgQP#JovE>;S2n+*?k>=*J1GD(M=W5d1*%$?!>u|nS|F"
    b">inW+M|%A}+gZ87bj*f7|sp{v2NF))OvI<(p@aw)E>rYZTbo3&w~BQP=_RT>1ZXe0xs1E$!XpCSer2dt%@)E#4`!X>4eGa"
    b"@gh9VMHs_@aj;pBzdk)2e2xNh{o^6f6xW`zPlhVkNjNDXJc#!mIkEKcf?!&7}0FE2bwNMkxy@?;vWa#~lS9S*gsbi=>ULw"
    b"Wdj(@}lIVc^Psnh@yw3@h2}60j3WWy)C(^Cyizx!Kx6bPA9gS8j?~S`5}a;C8(1fccqVy|EY|nhNy+D-l;ey$thu_B_?U8"
    b"IGseSC8!-OAt@ya*QOmQ)u{+4oQgIaJtjD)qoUEPJ*cOtASra5Z!UWq!Y2qB^D0at#HlnSOD!U-qa?{GJ|+4kC#F@P#;&c"
    b"7{GczSnlC^nD6k)}ak1N?<}wW&*DS}XD=;LbbSSkeq^MXj#HskMQ7{X#fTJy`Znn5Ar?l3nn6gZ*G@|b@%qX<0z%Ax4D=`"
    b"+LHLOA`HL&BP!Y!0C^{u(GlB_wQsxCUE$}In#?J^UnYqrLjOs{t*EUA>R5vlJelc~L?VjMrRZ5QI0S{0NOE)71AFdI3T3K"
    b"5PLn;FB5*9|Ki`x#3b#u0rOVjD;twVrU51ql?18v|1!o|=w<zZDK3D4ZmaYmP{muZWZnF^s&K@(3o62peA+ISm_>`J&2&&"
    b"mOFuCmiS=6bx1s|DHD*G8XTZyo_8JIhmG_n-zDO(GCuw*RI1Ou&+%lwkQT7cCIZfG^y||=_HjAaVK;RsxWM;>KUCVn=qHI"
    b"UnPT`jj3<29w6!-s;7Lf{4f(I5t-gH`x^Qs{;NVH1}qY=KduL>-ir~i@~Ug0<0jn$OD>qPS1}STz$i1RA+O~kpCk^gzb3!"
    b"5ZzwY-=d5?EDydDi0Du610Du61000000001h0001h0001h0Du4h0001h0Du61000000Du4h0001h0Du4h0000000000000"
    b"000Du6100000000000Du4h0Du4h0001h000000001h0Du610001h000000Du4h0001h000000001h0Du4hb*ss%G^%4I&>"
    b"MW00jc(=z@(n4&MDcQi=@e!DXVjmeyO4tfvMIdjiIimBcy(&2O6oS1tSZrd8~Y-z^$<+@Txg1U7irF3?t{O(ygMU=%co&x"
    b"+Kvk6`XyWtteF|MJd~(PO0T6tE~zuCZEuurzK4$fGBI8-z>GP7^MoQEF+Suov8sWD<wdo4<VJP3Z#%I?5XT9kfejII3%Jh"
    b"r>_K~GOKZ*=_1@OD;&eBuOL+=<ER*%XRQ4kAEh&)-!28BDyASWzM@<y0jobFCZXaXq%Cl;P^*$LOr(IAi>OU4m#QZ#2&RU"
    b"sl&a<<W-D4ASEsQj*8~iz&?@sJ{iLKVbgd&L3?N_`WG7H17BFt2vnZLRniim`mZ;+;Yb;%yjV48<w5&p=Qm;*!@UA(n5+Q"
    b"r37$w0b4yIQiDjwvkktIW{rXx_S$)ofuPa=CB-zz68EGb;22C1PI38-<cKr0ljawlac7_j#yC9)@}`lCXz)2xk|Ri{lPZz"
    b"NnCPNO?4@3fz)<R~|+7A8=tbSWw;2%XuaGOOMtb+M76p&NL#0VOA$*riA!6)-far=N_g0xZZZG$;I}&mA$O_@x6Vt0zOBm"
    b"n%0adm)G@K(5Lt9HDt3<DBy>Y^a5qzpF~9Zz*Q0h^h{xP$&K<l&ahzI;U@?z_F34ojzE;WV^IHZoPB7h`eCD0y+b~ctAb6"
    b"gt_jy*SNDi1G*!;|2i(YB{_AwVLuGOqQK@kJv*4VQoJj`3Av|0aJi*H;YYW-&b&~&ML`z2zBuDM?K%QGkG{h?D?QRVm^rt"
    b"+gS&A+$h^5bIlOW_e7)2;7Ci#FX+9ge(K}N-urg4<BR(d%x;-JlVz^_xeLVa>2D(~27rZXH<h-4@q&N=1hQqKw>9~?R5W<"
    b"!`sLn+>U%2o(B)VL=_PMaQg*o!NZ9GasPd_ib+_+pqEV#ZpG&;1qPB$vKd_3Gb={f1Q1;K*4#5tz97&@fAs5@D@KsY%$!8"
    b"tEJe7IaZp*-n0R=j%27`RzMp1}dQVYXL1;W;D3pGA1NW5r~;Pq{X^Y{PKA6F^eA^0!+<Mml-D<+ts;{5zMx@49xms<$UTl"
    b"D>99nneXU5kRK8IXR`dMK{1crn#Lw`?ViPF*@ovP&rt@W4f$4;IpDWO~tlFtGM&IRXVgeAwUATuDuLB={0#hd%&5v^E^wv"
    b"o5O;+Ry|lh<+w{eb;e4#_q-aojyf{DiM;!`)Ht5Iyg{qM=sL_nU^#|4oVHT8ySMqc^f`0ApExx_2EP`>9=WZ!|F-bD9=EK"
    b"y+d%5I^hB>X7dm@6u)4IkO+D_qH#-Ns2RhljH#i$Q7(m)Nsl6w_GC2M;"
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
        self.value = 0.0
        self.values: list[tuple[int, float]] = []  # of each depth that was searched whole
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
