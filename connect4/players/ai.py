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
    b"_x}3&`t$bu`vV92{R#*F4FUWJ{{ImN_X-F3{`d9z@Ad%t`}g|s`TPY2|Ly<#^ziQO?DX{W{`2<e`UU{=>--1)1sMqY3;+N"
    b"R3>6y`^#=O+`}y|-`SADj{sadK4F~cA1^oU21@8w20si#-0|fvG0QLU@1Oo{D-~Imw@ACr#1p)~P3kwVb{sIL40u2TK0q^"
    b"_;_4fSl00sRA1qKTZ3=Rhb0RayR_x=tG1pWy62LJy91rG-X{RjU23jg~70{{B>{|om32M`bc0}TiQ0R#mI_4ND${SEvJ5d"
    b"QxM0SN{W5D@?n0RI901^@H<@cHlk{P_L?|MmX)`~>m={{Z~~`Tq#|{sHp@4)^>7`S1ez1O@*00QB?;0RsgF0R;~J1M>k24"
    b"g~r73={<W{|o;I{|5vB_Xh*^4gUiJ3IPQN1^52{{tN>I3IYcd01Olb4Gjbi3Iqoc00;yF0RH|40Q&s?1O5O5{s##F1OWX2"
    b"^ZNY&^7{Jr>;wJ<{rCBx1pu!S00SKW00006761ef00000@c{t+`v3p{000000000000000000000000000000000000000"
    b"00000O{U8AP3jhis000001`YrS0RR9100IF3`S$<-0000000000000000000000000000000000000000000000No1!2QL"
    b"5x0{{R303$j8{_y|+008y;0Q>F$0000000000000000000000000000000000000000000000POGn0QUO;2@C)L0009300"
    b"{j6000092mt>200000000000000000000000000000000000000000000000001|Nj8^{Qvv?0Q~v;{Qm_31OoyB`}_t41"
    b"^xN@`uO?&0R8>?`1bz<0s;g9{{sB@{P_3)`S|?y`}+U`01O5K{{;d40{i*?0ssRA{|Wj2{Qmv`{`>&?`2hg@0Q~*`^78xt"
    b"0ssB^0ssU3`UCz1|NR2@`Tzt11pxQ|{{;K{|NH|1^#lO@1_As9|NQ?10|Nj20s-~^`}YC?00IH}2Lt~K0sa901p)m41^fd"
    b"62><p4{rds}0tf&C{{#sC_5T3^`}h3-`vn361OWO2|NaL5{Q&m)`u_O<0|p5H`Tzp}1quWO1OfsA0{jC00RaH|{Q&#}{{0"
    b"001ONa0_5u9*{r>&@{sI60{Q(I82Lb;8{rLU{0r~;_`u_j}1_1>H00##B0}lfO0t5&H{{R63|NjI82n7WN0Q~>~|NjC0{Q"
    b"d&|0r~p<0|o~N1`YfB0RRUG0t5;C`vd?10|5X9{Q>_1{{#UA0s;p91pfU2{{8;>`vCp?{{sE~00aj50Phq4=?ee|5dZ)H0"
    b"Q(650|x*A009350RHp<00000000000000000000000000000000000000000000000{#Q0Q~>}3J(AP000C500smA00002"
    b"1po#D000000000000000000000000000000000000000000000000R44gmTG00RgB000033;+Z800000|NQ_0^8f$<0000"
    b"0000000000000000000000000000000000000002}{s#d3`TzzB000001^@sE1ONa400I910{Q>|000000000000000000"
    b"000000000000000000000000000{rvp<`uzd~0r~j*^!WY#{RjgC1p@s41qcTH{rmg={sIUC{Qdj-`~d+11qAy0{QLd;00"
    b"#p0`S|<=0|xyB2>|~9{{8^|`~v|00RI5`{{R331p@v60|NpA00060{{H>{{{8^{`~d_40{{g4{{j8}1N{O8{QCg^`~&|30"
    b"S5mA0{;2|0|W;D1^xc~{ssd8{r&y@`Tzg{0s#U7|Nj330s{g90RaU6{{R62{{#O4{{Q^@1^om60RH^|0RjF600aH``~&_4"
    b"0RRI3`U3v`1^xg3{r~<20RaX70s;R10sR960R{d60RRC30RjF1|NR02{{aB~1OEa1`~Lj_{Qmy`{{aO40ssI20{{g80|Wp"
    b"5{{RC1{{8;~1pos60tEj60{{a800R90{s8;||N8#@0RjL50s#X2{{sL2|Nj93{r>;}0t5g40RaF3{r&&~00jU40RH>{1Ox"
    b"#9{{RC50sjF20{;O400RF200I900{Z{~0RaC1{{8>~{r~{_4gmE700jvE0002(1^@v8000001Oos9_5c6?000000000000"
    b"000000000000000000000000000000030^#=g<{s09B000003;zKA{r~^~0RI300}22D00000000000000000000000000"
    b"00000000000000000002mBBK^8Ww=1poj50Qv_21ONa40092~00H#?0000000000000000000000000000000000000000"
    b"0000000jC80Q&#{0Sf>C000LA00IF300030`~U$1000000000000000000000000000000000000000000000008~~0{Q#"
    b"_0s{c~00sK@{Qv*`0{;L1{{H#=`T+U{0RH~|{{H;_0Qdd_{{R2{0tNvE0RI2~`~m*{{Qdy`{Qdg<`U3z40|NmD00jU80s!"
    b"~<_yhd}_xt<;0Rs9200jaA{rmj}0ssR00s8^@0RsRE000660RaO80s#C5{Q>v_0saI1{s0F61^@~G00sdA0Q~^~0|fs43j"
    b"zcL`Tza;0|f*M{{{s32LJp02MYoC{RagF{r>p=0sI3B1pWjE{{j93{r&(400saG000I70|5O200RX6{R;vF1o{8{`U3?73"
    b"jYQK_y+&`{RayH`27b31^xc`{sH_03IzTH2mb>B{{aF71_J~E{s8~{`~?931^)g60{{pA_5l9>|Nj61|Nj8|{Q(06{{aC6"
    b"0sH*``~n040{s5}`~d;`{{ROA0sjF41O@{H0sa90{QLz000sX30|NjD|Mmd>|Ns900ssF1{QUs~1pfg61OfZ~0Q>?30RsH"
    b"~|NH>~`~Lt30qhI__W=M43IG5A01W>C1_A&80000500#5`00000000000000000000000000000000000000000000000H"
    b"a_0QUg^3km=L000dC00sg8000001po&0000000000000000000000000000000000000000000000008^^0{{d200jd800"
    b"00B0ssX5000000RR97_5c6?00000000000000000000000000000000000000000002{`~v_3`v3(4000003jzQH{r~^~0"
    b"09612KE2|0000000000000000000000000000000000000000000002L%NM0t5#H0tEpA0|fyF0|EyH0|o^I1qB2J0ssO3"
    b"0R;pA0{;O81q1{D0|f;D0s;X70|5U70RjO80s#L41Ox*H0|Ej9{{RC50|Ed3{{Q^~00900{{aC00|EmA{{sO1{{sI3{{jE"
    b"~0RI360|o;D0ssI20s{j6{{a60{r>#>{`~;{|NjC21pfd8{QUg<{`ms@`}_d?0ssF1{s0310Ra92{{sH}{r>>}|NH>`{Qm"
    b"v^{Qm#|0{{N{0Ra8{`~Lj^{{R0100jR41pNH`{Qmg@{QLX>{Q>{~0R8|1{{aC00{;U3{Qds`|Nr~|{rvv@{`~&{00RI1`T"
    b"+p_`}+F({Q>;{{rmd@{`>y}0RZ~~{{Q~~`~dp?{{Q~|1OEO1{QCa{1OfvC0RR2||NZ~~{{jF0{Q?03{R000|NHv-`~3m@|"
    b"NZ;>0{;8|0|5a00{;L10Q>;@{{H{|{saF00Q~y@1Ox&D0|5X1{{Q{}0RI91{`~?00{sI20RIR35&-)D00j*I0000C{s8|3"
    b"000000{;L4_W%F@000000000000000000000000000000000000000000007`w{^9{{RII000004E_NB1ONa400RF20`~v"
    b"_000000000000000000000000000000000000000000000{P_t0{{H|00RR9101yNK{{sL3000300RHs=0000000000000"
    b"000000000000000000000000000000000Q~t00RH~~0RaF2000mK0RIC300000{{a5=000000000000000000000000000"
    b"00000000000000000000933{`~#@1O){A`~Cg?`vU<21O)&C0{;X90Rsa7`~Lm~2LS#4{{8|52L%BG{s8~|{sI66|NZ^~`"
    b"~L(0{{jI41Oos6{Qv+0{{a5~|Ns94{Qv+1{{R631OWsB0s#L20RIF3|Ns900RR641OfsA{{Q_0{{;O2{r>?10|fm6|Nj5~"
    b"0R9C81q1~E{{{g7{{aF00sH>^000650ssO3{{#gC0R#U50|Ws8{r~~~{{R94{{jC20R;j80R904`~Uv`{{a341O)^I0RIL"
    b"70RI62{Q>*_`~Uy~0|Ed6|NjI90|5j70Rsd90R8|0{{H|10{;R30RaU9009001p5I1{r&;|0saC0{Q&^}{{sF1{{sI00|N"
    b"j3`2Yd`{{#d6|NH>|0RI910RsU2{{j8~0R902{s0060R#O2`T+p}0R8>}{sI00{`~;}{{I600RIC1{sRL4{rLa^|NjI7{{"
    b"Q>{{{a61{{aI4{r>^|{{a300{#F31px#70Qvy|2lfd7`Tzg|3jhEB01Ep6{Qm#|0006100#E}000000000000000000000"
    b"00000000000000000000000000;I70Qvv`0t)~D000X60Q~;|00001{{RN}00000000000000000000000000000000000"
    b"0000000000008#y0092~009610000D0Ra5~000000sa90_5c6?00000000000000000000000000000000000000000002"
    b"??*IV){{R61000004FLfC0000000I60|Mma?000000000000000000000000000000000000000000000"
)
"""Corrections by the contents of windows of four cells: a byte each, in steps of 1/32 point.

Learned from deeper searches by `python3 -m benchmarks.training`. There are six sets: a phase each
with pop-outs left, then without. Each has ten tables: two of windows in rows, by
the parity of their height; four of those in diagonals and four of those in columns, by the parity
of the lowest cell's height and by whether the player who makes the last move may pop out of its
column. A table has the codes with an empty cell in order, with 1 for the last mover's tokens.
"""


LEARNED_WORTHS = (
    b"0052uX8$Sw@cz~QqyDb`w*IL8oc<C4XaGR~1OUqaum5}hhX0QLfB$p;$pI4q!2p8*NdPPW`Tqj|3IO{5?f-=W&jE1(2m#F"
    b"iu>gDkh5(EJd;o6%L<5ZiE&{m$Qvo&s0RajD5CQ)H@c={u%>iu!_yUFlJ_HB_5C#<o1PJvA5(An7Is?N4Q3U-2oCTx?s0W"
    b"t_hY7d?KLg$aXaw~HpanDr5C;?p0txa7O$5{fas>MXhy^kR#RirKZU|fnOA7S_d;}T=q6IDn*am6`ItT{|$qBd$%mq>f?*"
    b"(=S0tc%HJqQd5*a?pcQVRe8KmqRoB?1TnkOAZYS^?q!!2q8CHvq%|ZUUhKfdT~rRszTYO#vwZ0|9mag#h#cBmw{efdS3|J"
    b"ORD{mjG@61OE^J0|EB|&;d;WmjMC+fB;nhC;)u^hW~W{?Es1a1OZ9`vH&aq{{PPZ_Wu0;=m1>-egV7z{{dqG+5o5kbpSyA"
    b"LjNlOoB+B2d;o(1;{aCxA^_|E#Qnqmss9!LFaYoWdH|mQ4*=Hxod0h9Y5q(9wg1fjhyM=%xc}_`u>W%ZLH#=Z82^6%lK)E"
    b"o&i`}&EdR9sbN|5owf>O*^Zx??xBoZ*+W(LLoc|sG0049UCjZy|ivCXiE&dJu^!?}k-u=-4N&xr&r2kR>5&!D`#r~)MmHv"
    b"nRU;)tphyX7D*#DCMX8%0@82<tP?*0k_b^#>;)&O|`E&%=i&i|$ViT`o`#R4k=)d7A1DgoL6qyTRKLI5BD0|0db76Q8hUI"
    b"PLIyaa&-M+OuJ?gz^Vdjl5(wgXiJ^aP~^a|SdA{0GqpsR>I2;sbmH76q>bTLvKq><6z1ehE<u`UH#wAqBPtN(S);vIlesK"
    b"?w^A*$T=9R|Vz;bp{0orw3vPAPM9Nw+es@o(3icu?9N_#Rp;t7zxk`j|y4~Eerqv000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000007wkn*UD!1p"
    b"mYSjs8;p7yjk_rTvuvZU8R;;{TWbRsS9T;r^!na{e*?Edc`o$N+f&Edc8Ovj24dIR69x!T!_%r~zmJ9s$t+jQ~>s6#&=&q"
    b"5oe0eF9Jd4+6mfcmXp3`2e{9dH_QJ|NpE4z5;v$Ed<~Mp9NzEA_w9Jst9EXYXf@&I0Wbfngvt_9S7S7nh0SD8VVi+E(GcX"
    b"m<34&0td$ji3mpt3<|{xwgkike+4ZD+y;~fSO^vg*a@5pR10JUaRn;|*9L_LJqZ5@ya{>=LJRo|8U`i?-v){YHwf(rt_f-"
    b"iCkyKfrVIc800000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"000000000000000000000000000001^@>D1ONyC0RZ;@`2YL=`u_j`0ssmC{{II6{{PMY`~Up^0ssL30sssE1OWg4>i_%y"
    b"1OOiZ4*>lC{{J)o2mlBG1ON&E0RZ{``2YO>_Wu9?0{{;I008&@2>|^6`~Uj?0|5O00RRjD0s#L1_y7F={{IpH3IGKF_5Ym"
    b"z1^@#90RRC20RZ{``v3m_{Qv*|000I600062|Nq_p00000000000000000000000000000000000000002LJ;A0ssI20RZ"
    b"~{`v3m_`~Uy{000L7008^{0RR{P00000000000000000000000000000000000000001pom600960|Nr>^{Qv#`0000000"
    b"0930s#I00RR*L00000000000000000000000000000000000000001pom60RaC0|Nr;@{r~;{00000000C40ssI2{r?*P0"
    b"00000000000000000000000000000000000000000000000000000000000000007ytkO0092~1OO!f000000000000000"
    b"00000000004gdfE000C4{QtE700000000000000000000000007ytkO000620s!Lw00000000000000000000000005C8x"
    b"G00031`~MOE00000000000000000000000006#xJL009601OVj!0000000000000000000000000000000000000000000"
    b"00000000000000000000006#xJL000620RY4Q000000000000000000000000000000000000000000000000000000000"
    b"00000000761SM009601pq<-000000000000000000000000000000000000000000000000000000000000000007XSbN0"
    b"00930RS=p0000000000000000000000000000000000000000"
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
    b"yQ74zRHbz#K&iGFjw)O%r=~|8oun(DkgV^ed8`GbHljzQ3M6u>^rX`)nW~{9OC)Nhc_wJ7#wDYr5~H4_)hKeR-J6V~{gMi"
    b"xlO+%&co;Dv94vAm@T1Tt-=UK!NGgUU)+bb>wI3QK#HN2C{U&WBu&(bUryK;OLLTiSE|~0~<)qamYpmj@o}!qhN+VO9>m;"
    b"xr=cSP&X`AmNhN&GJ6{P+kq^5(T<{Wq_37z_&rX`OiBqwSnjwauubgX_U?Wi%Ta)Y6!7a!&-1T0Ifv?ZJ(l^eJySEBtYXd"
    b"@ynw<de93aNIabtF?Log`eIAgubZVwR+utgVYEU>y^m1sgvc86W^5oEq&RM<TC=)S!!?CK}Y5Ck+Fb{hocHo1DCeHJ}Bcn"
    b"4|-k@Ss5*J)yg$ke)}Nke`C00~%wfs-ko#%qrC&fhZR$A1_!Z<0=WHc_|kx52EfS?Wr^)DX1)<qM@jvC?Yu-5vfSAr>D^*"
    b"p`>WA*rFpMc`R=g7^l}LkfdcN|DnI9=cHdLfU18TNhirBXeRljY8=m`1SJR*vZrz!e4N!S;UT)D3Y{%1+bt5XWuZPSd#h@"
    b"p8YF-$*0R>4eymEQ<1bD$_pm@Fousxac(Ar57^ZZm)2O`}VVKsW^PUJbUZ$&}=OuBi_%NfjeJ3`EvZfm_049^6`7j46e5}"
    b"YSS*Q&xkFim%b*5G^RyO%CSu2%|i>q|4dYo%1G^a8%Vlr*7NhF4)Mzo+PAE<Pa#*m4WQ=I;tA}iRP7$l{f=@2}bbRl6KSt"
    b"SG_PaF}dhAHKt=@dky2Nx12y`!t9+aL;|F%6@kzo4w745o*j^9&Xn$D`92OQW11nj^8Kb}CLOv?(Gcy{jFp8XS(PcPT#})"
    b"hiIHn;qq!o}d9BR3Q5%u^>j4l`S$T#GV`@ULC=$VJ|!&FD!5<<|$|y540RHA+6u7SF5kA&K-)YCZujC0l0XmwJpb-Zllq)"
    b"BCk9vNh(<^ZMQh4LNMGdpR9YYS0sV5u_MnTVyS|mPnvX{!Zpt;BQ1ijiY0KW9Id^eQ!FJca<x&Q%_IJ;g{k)%qOFxH3@(z"
    b"Yc`m!LJ)mze!YR_DrlXM|K&W-8M4-7G!mXpDC?G2#%PTV^`>da+=qs_HZ6up4gCta~1|p9xl_P*DYa;wEWSxH`q9B7TJtf"
    b"~9SE)rH`XM%^;+{aPWu!nU2Bh^Of2DY*WFdAUxs!V&HywN=s~`p>xF1R;A|&=G7o*ZBd9Rk9UqEQ7hQuDjUa^R<KrWCyct"
    b"7n#ibS5YqOUMQXGG?_eX<omp~OQ#VL|J>5<Hm0-!-*0nn2~S&%Omc`az<<lr~thJTyA0lrv~D7NpWR?kn)Eg{@wo|FC1Mg"
    b"eU$nt1TBeTQJ!%^r*ZxYqvJAl&Lf^hN?=Wq_9$~N;Zc$k+FKQVli>ER<6}G-!=)a3O0x}R564#>9@1FjIJ;^O|U7o!8N2X"
    b"t+a(N^)!w%5VfEv!Z)opfH|GDM6^#h^)}-@*gZQ$-$1y>ZNeqJFThbXbjEwd^u?#W@5LOu@jem9c|_*EL%l?_yum^?qQpk"
    b"AA;DTj2tshV$+S~B6TZ;A`LPth(lXpSo;i;xK)#i~H9s{&UO|aGqCM(3vAnRf4!at>K)Tqu<i2*Rd_J_gc|1!zRys30jy="
    b"^jfvx|w_%v>_61c~*f4;W5#kHiY)+lH<GdB-1<hY4AD!s`!5~qnWHnKfFM6M?}l(VX?v$X3iuPn7M6TEk<37qJiTOOVz|D"
    b"f<3$e>jojh)}7g`z8w)FBe4X`Nys45I&~2_OETeWojzYb2JQm!nh|kfZaVo*J5;#HM_p^d}xO(juy;_%k}R4K2yC*Doxw|"
    b"FI>qZ!l7z1+;dvxGefH<)}`zYcdw90kNew0yev<pQazRPpbK&ldj_^&?zITlP3-#`K%+BgQEYbQlWDw{v(2#W+~St^{CS&"
    b"VK1Scg(wRwT%{eObRs3J*Qv)SE*>qFRw-qjsiL+Z{-6b{uAG<@k)9YUw;(qspeKB)`jns}`YJl8RxAiC8z??35vX1vW30)"
    b"ku&6yInjz$+2%^@kKPq+{Hmt;^B(TdY;34}l(X&FRvnr~X?XvHvcrhBT8?R#_8Z8+yH8zj54=ha_bg)vbP$rD8+^PUEOR!"
    b"EJwj+Ho$1O)FLnkh%xRUjrjHG=WlB$rNlBlR8TNCphgOjPF51`iyy)AO4GbJsgy&Yt&t0tfzM5K%)D53eKL?MA87%WJdyQ"
    b"DUxp&g4N-KcY-%Boc)Lnqy)mK-OYYb3~>S)!n+WGU1qPozK}B^`7qhovYbSerN}4;U4oKBCX5J*&kW<``fU9ud@-habe7z"
    b"z~HD!<^)y38ChYs+*=5ksc0~i5+5?yd69o(2(1h)SxRMD;MILEt>V6%@|=BhN9+}z^kw*g)2_7rn4?I)}-($11%(~x2DA|"
    b"OE6J3*{N4JWHBnIge^9xh_qfX?55fg-6W%~c`11_zpMtR>#wIRkgr`Rhb%iPaG}a1j2xn>W2(ifnW#IcM6BnZG$v~zqM_i"
    b"LTP)u$T`0_{5~!e^hLmurXRO2^gP9_!4I)>dW+E=C<s+b=N}v*<11gXkbE9mdf+pG`(ya$0_O1&ca;Z-pmncvhb0$tKUZ7"
    b"wjiJ>SZ!6bjKfTxusN+2&BKdWM(;UJ(TbSC(YiY4fk52Tu&haCzdhA3C54;of0IvkfKY6nuOLK)v6RU{CarYIREU?CVUft"
    b"_?1y`(=T{wKpIgO)5FIU~3qIUVe#mnAJABb%<I@1SEH;v2{#fEcHkIH>Nbn5zaOTA}e9mn!<4s4D|5DHx?B=P4p9N*wViG"
    b"^WcS$|G$eccrKy_MUnr@20k*ajb|b*dMyCkSPtL7^t3|rY+qfLMlBbO`n3I>nH3d;U>qbpRk=E-;ijb#~Os9SD9{^PMK&S"
    b"X&vezk(>1xcBOnAexeu}gB>v#dZS1n0wFRSX%1?b(vOXt+@t2F!5yO{N}~v(TqDRGW~|Phj42+aRi=lXvnzt8ek3NTt0t`"
    b">T%=aArKt5UnIU5<k}CMAtfWV#teP0C|Ed9|qNqHpcpkj~VlD&_NgxHGDWH_1A1QmA)1Psl$fHLe`zb!0<DPS%DW!-c6{Z"
    b"g><D{>k1r}E)^dexGX&h-PxSXFEycpM|?kD>xIw?CT;waP=S13j!F`I;@Ode9KbC|{vB%%_h)21Jy4<IHiCaR(&nkPXpNF"
    b"~=ILM}6-$RH)CX{(GJvoJQS7AJr>1EI|%P%D-$7^WH_UnWi{O0aIO<})F#iY7-bJg_FJV=PlGPbNYu`xy%*YpXz^!6v>as"
    b"hrLoXR0nG)08=#cp_+<uA%^()Etl?-zSHj>#0pC#Tyi;z8i5FDI{5-=qSD$T^bOWp(SFGkRypD0vE`Fr6NNr0001h0Du4h"
    b"0001h0001h0001h0001h0001h0001h0001h0001h0Du4h000000Du610Du61000000Du4hS*gFQp)N3^ytweK&8Awb8n+T"
    b"J@GMHC<1fIqpPNdqdbT1gv$n~#dnvFZL#TGOWhJ<j39v>mfw;P+l%-#&s;QGKY`BiDz$TF?zO<yJ2&8bV`6=8flrgud6R@"
    b"1EL8oA#Yq?V_3$vt^l&;1r>#-=M|0`BC<)ZhhO}i{9My69En;YXS2as7MFQ%3#WvJ()!JtJMU@8f%gDg%i7_gJA52(whNT"
    b"@C`OfuFf)hrM$S24}6pDC{{EF`(4uqYTLMkmf3IH*pbxTt`uR-#d)4JP~~w<!!CBQ41#D6M3toE1bc!=_=V(yA1$U9CJGW"
    b"v16Hm9QBo5}WxQCq=SGyE%x!sX@QQ)j_B~sXn?$X+upzy28UdUqEcd(Y%T@F~Md*6hf`SD8s--wY^L?x4VEdExi6i8brsx"
    b"6Sf4l1T^p=Y&3T?Dz$*4d^GGd129@PHMFEM{jFj#m?^R*LNRo*qqQL|A24XNo+uSGl_uk?k*&owFf+QaGcc$yDJChjlQix"
    b"y5v@|Nximwz@VIWX8Lg4F7pPG(cP9)kv@@zC!Y>OcZ!R@0pRgyeT_NNo0xT4=53npZOvMboW;y69oxCMK)4muqo-Yc<K)&"
    b"6(Cp@P=47{2^89K7TL_kEtL!_!XVYv9kXFwIYwK(8IbvkOoXuu~q0Du610001h0Du610Du610Du610000000000000000D"
    b"u610001h0Du4h0Du4h0000000000000000001h`8T$vp)ct*FSJc6L9^1kZm|U;Q!R@rgR;(_fG|rr<3Axe@UVnFp|v1Ce"
    b"L$1Hy1ZB}QZ;h2_&-E4jj9l`;}pB2P@qy57^L+Zi5$fm^PLo?7oNqW#1#LavK)h()EP6Av7qRnW}c3j`kJVn?Ud(|>YsHQ"
    b"&<kOtDWuJrQm(PIkFYm0PqNUc-m(a==8Oig#IP{5-7@wwhP0M2;H_RF*fOCaktIJeO0Au)*fcGw^0be!OeqMginIkZm#dy"
    b"6%A;i{K_qY_ei}Qed!`egqb2+p;-hFQoGF2%Nhri8TOe93m?aV@LY(O+KB*O*i7C09@SV&gDJiEO8LV%mL8)vaDx}k#1gS"
    b"Ts#h-Pjqn_=V_oN`G392cmL7qvYYaJG(Z6gSv1RtIwq^{>83#H_!hNCmB1FAPAV5#h^Z7qT=D6GyTpeHFWrLIe>O{wA%vo"
    b"GAOKrIL@IxGH;0IbibO`U+O!6ZR37qPG@buFVSKc_3I&XmTaqo;Wpp&E3bo1`+NGN=|WMW&=DwHQz$?HIG3O(;+(A2W@pK"
    b"%yY9`I-8#@2e#w3nz-14w$qW&M`iz5+Fn%*D2<q(3^^&)g=5NpC{3<{w4OO1f;a0!Ke_RzodGsmLAohT_%O3LL96fI3P!?"
    b"(JX_d#->D<3#X2w;G~fxl^iaeG9Ygo0H6R5Xc8Hu$erYn7oBbk+!TEuBoDeBeHzmg+#G!(j~*_ZUl0x;d<|8UCZpjP4jbW"
    b"^MUl~%7%(@iK%*nHtfT@mc_mS=6)GjOu&W2H?JY31ZJ?^G)25FszM>tmbGSwz@}<nC7_eg}VjCVVhN#S&R<+5ihMOTJCn)"
    b"}>8>yWrm?&2z^s2I_h^2z5_@@Y_%OO@3N1tFFPbL8<N+bWIA*1LYC8ZIqzaF!q-yGScMJH{kcO!MFpB<#2BO75T-zN<zq^"
    b"M3Ca<4EhLZfD_NTgXPjhp1Bi5~_WTP7kYPaHCvzb&^dD<UH%9iS)<2%;37KBASFzMSqIju;3Y5htyvSRpPj<1N`B%bIkjx"
    b"TP~DcOwTUJR;t!F_=QG+>kt;#U>)D6Qm0!W~nEjVJ+b&St|FVz%R}r0HwyG4xySIXfF}2<1Pi6&?opCu%MtY3Mf1uOe1lu"
    b"B&@5aRGOBWg{KuLDI7d5f3G(o^{>sMd>Le>CahT-J|r$A?j*~U-z={yPbh?|=&a)>zpAPvyr48Bm@14YrYDakl9?PJ1gAA"
    b"8NEEoQpenMc53Km19UZD1rljp32pKXQ*QJvr*cj0ydm`c>_n!4A^c>)$FP7XPp`cADqb4sV=NFEYcqH7PQX2ZD{uD$XkF7"
    b"7FZW)}PBb=xufiDFiXrpbcL@CysUZg&qvM5QVO)Og@FswW=`>8J}qokm#B`6i9<f7)IJgD#~LMXeZv#gmYGBH{$Yb*vR(6"
    b"UVyZK_hLV<IG`ktIYVGb%M1HJ}Kx>!G+MysEw_XC!kcY?SOB6D6;#Ntxd)M5$LIr>SkHDjjty5HG4F&#&p3IVP2`T`dVN|"
    b"E`WLS+nM>F12SFC^IuD)h_`mJS?21aH$_J9InN%=p{cf2Bh}04JgwkprvCgnJDlyg`yZGq@f=sHzw{Ze5iX4Ype?*aWbc{"
    b"e<(kz52ZdW4=o`iPo{$;c^T2G)T14(q_Mvwv#I*7F%aA-)uxRYV<$Kw{~C^))+1S;9H+&ltevPSoGAgVDjs_qYNn`!ADQY"
    b"MdzWY)g^uW_N1(YV9jH~91t@nO0001h0Du4h0001h0001h0001h0001h0001h0001h0001h0001h0Du4h000000Du610Du"
    b"61000000Du4hF|pmcqBQTO@34g!moK6)tg_572QBWau9;f3Qma|7c(4Mk>@5MXm@&dBZ7OaD5i|lPrzzJmWi2kLd9V4cAG"
    b"Hvz9<g?_uekfI1t>hMH?h91bt-%)J0`}n_^BPS->J>0sw{Lb)1WaZTBaAJC9PpAuqePS+9=W^*|klq6DK_?_N6&2ZmUEz%"
    b"q#3Jr7Z)l@2#h(@hqIHW-~Xg>M)})Ln=%qkg(`4t}wYQN{+cBStZ#p6*4(6W~WFh)GJn~>o8m>Z81}<>Zr#UeXpS~7O*}f"
    b"s;-o<KAr=j_Aad`qO3QV_$mb?f3U~09IcZt{TtCP4k%eMLbJ;yf<Pri?Yb5~CBkCB;=*`CR6G$e8A)+Kr9vJ>8%5qbj>E;"
    b"WG01T}M6~z3Qo_o=6h%5eEIpCIWyYgCP)EkTVX{%L{4h`}z8SAAJ++xIE+u0y0xjq&!Y2$c=&Uy_X{kA?5HqGI2dKs{>nz"
    b"2rw;<{>?4sweuPtmXj4R+W6fy9qpQ2Z>VJMm^8Z!K>w6YAav8|T1VyQ*5uqojrL9K7FKQwkOoGC4|hbUYto+N0e)UXP&Dk"
    b"^ZV*re|>S32Ij);JTmJV8CYXuI{cgf-4D{lhD|p~3pJoyNnouQ=AhGeTd#uRUkMRX<QZ)4%@2FfaW;yF%c!3cA@i0Du610"
    b"001h0Du610Du610Du610000000000000000Du610001h0Du4h0Du4h0000000000000000001hd?$1`5;XFl)HKe$r8NP%"
    b"lC&f@^{>A%p*31MC%cTe4?Mc4Bd_f<em8S4?LTY3OtLSdek_VORJQcGGr2k%pPU|_C!uc|8I;(T2ORmO>zV|jn4xqS)fpw"
    b"69~Va;OdT?zfE8S&UYvHER2U-`i=o+_RHQ7R+a4I1W1U@$iYZ+$T&=vQg029n5U|Iuhcg_puCC#;ji5y_Y_g!E53O3QNHM"
    b"3aBQM)7n=6~G#4=H&La=A7&LZI_(5_i7gR3*HSE~1>b{-(7iZ1W5t*BX{#i?$p-zf~D+bPkkx-9k~5StC6C#HxotdkR*4X"
    b"n#9&>&){r7sAL9xE86NUp-HGOIGI#HkRd;w`(aj-a+JAFu-~H?LN#I;fj26Q`M~Ss>!0f++c{)vKbL_^$h}9-b+!nXk^JO"
    b"so;7@uYSXMV|ktbfb76KQ1#XIIguXI4}b#gfVR<qbo=%W-4<m2`!v19xiF0s;-|dC#o?n5+}s2OsMv%8z}gyQl|-}uB!c~"
    b"HY@z7te7AzpriOOP>KN|Bdr!EYoo2FLMizwBqVSg=%)lP5V2}9{jb9(4x%S29xB1IRG<i(g{2!I{wRl_m8A-z{3KN(m?;I"
    b"a1So2ujjF(^f31D0%CMlVD+?W@%b4P=!!X3A-Yvnd5Qkr>L9lwOa;u1>{~bx6Wt{2;EF>olybigb4i8_T_L>-&z@UYjYo6"
    b"kyos?LR$rcnOyqw=3ADW7m9H6?Qcbl*qt(^y*YoH;UVzM2wE3g=|G^{oq#VIbU^)6?v?y(H8m?(O$C8aepNGu7dn4s9Ldb"
    b"cpH5U>@obFW)2G^+J7ud~}NE;mpiNTg*V0wk5Dte@zh%O0wgb*P-2u^M2bSfVZyc^Fim0;De`(<UP+PbjXayq-iE%$~HPO"
    b"(mnHWF)p6Fq;0VK0bNC5x{jnf;{>{X}+tzi9s4W@jUN9*S(#+BD?N8T)Y>+u)g`dsl8ymTEZi}A3;Jv!#~74V!-J>0lcd~"
    b"X2Ha|>%Qc^n>}1W9ztEgg1XB<ygh0?Q9>QM4Lnf2JUr7q%0P_0Ou9|FKD&IuTe_w>ra>t^<2%j0Wj&(2ti5HwT)H5-fw*r"
    b"y5xEyaVYsh31v~yX>Nns$@vzD_iMgV-nz-$}@IF7iF1cts_PuYshdM+#r$Tu(inzl$v$JYG8o&"
)
"""A small network for each phase with pop-outs left, two bytes a number, learned by that command.

It adds what no sum can know: what a pop-out is worth depends on several things at once. The weights
of its inputs (see `AlphaBeta._inputs`) to each hidden unit, then those of the hidden units to its
output, and what is added to that.
"""

INPUTS, HIDDEN = 31, 32
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
        hidden = np.maximum(np.array(inputs) @ self.weights, self.floor)
        return round((float(hidden @ self.output) + self.added) * 1024) / 1024


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
        """Return the pop-outs in the mover's columns, in no order."""
        pops = []
        for column, line, plans in self.own_columns[mover]:
            if code := codes[line]:
                plan = plans.get(code) or self._pop_plan(column, code)
                in_column, crossing, differences, _, _, _ = plan
                gain = sum(map(getitem, differences, crossing(codes)), in_column)
                pops.append((gain if mover == ME else -gain, ~column))
        return pops

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
    pop-outs left). Worth 2.3 ± 1.0 points a game.
    """

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
        try:
            for depth in (*range(1, min(left - leap, DEEPEST)), min(left, DEEPEST)):
                self.solved = depth == left
                alpha = -INFINITY
                for index, (gain, action) in enumerate(list(actions)):
                    child = self.lines.play(position, gain, action)
                    value = self._look(child, depth, index, alpha, INFINITY)
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

    def _leads(self, position: Position, actions: Actions) -> bool:
        """Return whether the first action is better than all others by more than `LEAD`."""
        bar, depth = self.value - self.LEAD, self.depth - 3
        for gain, action in actions[1:]:
            child = self.lines.play(position, gain, action)
            if depth < 1 or -self._search(child, depth, -bar - self.CLOSE, -bar) > bar:
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

        Also keeps the lateness, by which the worth of those in hand changes.
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
        prize of zugzwang (if both or none have pop-outs in hand, if only the last mover has, if
        only the other has; if both have, it counts in the late phase alone), the gains of the
        mover's two best drops, and 1.
        """
        codes, drops, _, _, mover, own, other = position
        mine = self._popout_features([gain for gain, action in actions if action < 0][:own])
        pops = sorted(self.lines.pops(codes, 3 - mover), reverse=True) if other else []
        theirs = self._popout_features([gain for gain, _ in pops[:other]])
        last_moves = mover == self.last_mover
        prizes = [0.0, 0.0, 0.0]
        holders = 0 if (own > 0) == (other > 0) else 1 if (own > 0) == last_moves else 2
        if holders or not own or not self.phase:
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
        third and the fourth drop, how many drops there are, the gains above the best drop once the
        mover or the other took it, and the parts of the evaluation.
        """
        codes, drops, total, _, mover, own, other = position
        last_moves = mover == self.last_mover
        hands = (own, other) if last_moves else (other, own)
        margin = max(-MOST_MARGIN, min(total, MOST_MARGIN))
        correction = max(-MOST_CORRECTION, min(beside, MOST_CORRECTION))
        in_hand = self._in_hand(mover, own, other)
        sign = 1 if last_moves else -1
        best = drops[0][1] if drops else self.lines.cells
        return [
            *(min(hand, MOST_IN_HAND) for hand in hands),
            empty,
            self.late,
            last_moves,
            *self.size,
            drops[2][0] if len(drops) > 2 else 0.0,
            drops[3][0] if len(drops) > 3 else 0.0,
            len(drops),
            self.lines.gain_above(codes, best, mover),
            self.lines.gain_above(codes, best, 3 - mover),
            sign * margin,
            sign * correction,
            sign * in_hand,
        ]

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
        mover drops into the gap. So the last mover keeps its pop-outs, and those of the other may
        be a debt.
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
        if depth == 2 and not self.solved:  # it hardly changes with one move: enough for all
            self.beside = -self._beside(position, actions)
        if found and favourite != actions[0][1]:
            actions = sorted(actions, key=lambda item: item[1] != favourite)
        best, best_action, floor = -INFINITY, 0, alpha
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
        """Return the same as `_frontier` for the mover's pop-outs alone."""
        codes, _, total, _, mover, own, other = position
        total += self._in_hand(mover, own - 1, other) - self._in_hand(mover, own, other)
        best = -INFINITY
        for gain, action in self.lines.pops(codes, mover):
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
