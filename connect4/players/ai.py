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
    b"^Zfey3H$i}0R;vL{|5~L4F&rN^#l(H?gj_>`U3s=`uY0#{{jK@0{I9A`}6+<_xS<-^Z5Dn{r>ar`U3v-@C5$_1QP%I1^x>"
    b"X2@M+&`3?R2{rvj{_3HWe1`YoV5&ZW7{00XB0Pq9|2LkE{1Ox>Q{`CL^2m%8A<NpT>^X~uu3IzQE1quxV{0RI21PA~8`0@"
    b"n?_x1tt_y+$200R9F5)K9j1p^ci00ImO2Lb>D1pfg8{1N*71q1~55dQrF{Qvp<`2qR|0tyfP2n_=T0r~*~{QCR?{Sf;D0s"
    b"Q_0{s#sG3k&iK1O)>5{{H;__4@Dn|Mvg{1O5O13JmuH0RRL9`~mp_1_AQ{{{Q^_^YjDv{RH{{`|bD$0Q?67`Th?33GD+61"
    b"PucM6#N7F{rmX%1PTWM^a2L_4FB~B`vCv|0sa371O5O20|o&O1qu-V1P}-j0{{RG{sRIA3Htp6`TPR>|N8m;2mJ&B{rvUy"
    b"_xt($@b&Tg@&Ww{^8fv+2>_`O0Q?pJ0002~4*>lT00000>H7fn2LJ#7000000000000000000000000000000000000000"
    b"00000K`WyiG3;+xk000001q=WJ2><{900992_VNG#000000000000000000000000000000000000000000000{MiKn`6&"
    b"Pc`Tzg`03JC2{rUg^008y@0Qv9$0000000000000000000000000000000000000000000000PODq00aF12@?PS000L400"
    b"{m7000071^@;600000000000000000000000000000000000000000000000932{{aB}0ssH~{{Q^@{{I2~1_T8H{rv?31"
    b"^xT``}+L@1^@p7{QUj`0s;dA{s8>@`}qC=`}+L){`>v|{RRjD00961|NQv*1Oo*D0R{pA{r~~~{`~v^{r>_00ss8`{Q3R{"
    b"1Ooj7{{#U6`vd_1{Qmd)^#KI}1pNH|0R8*?0s#d6`T_&}2Lb>A0r~(10tE#90Rs5|{`vs|0R#T^1O@&B0{{a40|Wv8{{jR"
    b"61OW8{0{sR900RC6|NQ^|`2hn3`1$z({ssXA1N`>@|N8*`{s8y<_x}I_1qKED{Qv;}1_K2J1O@>80{sdC0sa8~{r&#~|NH"
    b";}0R9C3{Qms>{QUt1{{I90`~d;}0t5a60Q&?4{Q&^?0sH|31ONj81P28L1qB8G{R9XG{sI312Lb^C1OfsC|NjO10tEv8{r"
    b"~^}|M~j;{{;pB0S5pB000350Rsa4_6hz42LS>C|NR321qKBH{|5vI1pNH{`}_U-`~3R?{{j611O)s1{`M09><0h`3jhEB0"
    b"Q&?01^)m5008|3008y?00000000000000000000000000000000000000000000000sUF0Q>|11`q%M0006800Ra90002~"
    b"0{{Z~000000000000000000000000000000000000000000000000F23IO{800961000063IG8B00000|NQ^}`2YX_0000"
    b"0000000000000000000000000000000000000002}{s{p5`v3_D000002Lk{F{{R300RR60|M>s_000000000000000000"
    b"000000000000000000000000000{{8;_`~Lv}0{Z;=`T76-{{;gC1pfd30{{X2{`~v>{{sdA{r~&?{sIC400jO0`~3a<0t"
    b"Wv1`~CR<0|^2E1OWg4{{Q~~{s8{|0Q>&`00032{{j900s{U200IC0{Qm+00sjE~{Qv<01OEd40{{I0{r~{~0Q>#^{{a950"
    b"0RL80sZ;_0tN*F1O5K~{saX7{{H*^_W%I@{{jL50Q~>~0Rsd80sa61`~m*|{ssR1{r~_10{;R30{#8}0R8|0{s8^?{R967"
    b"000C3{Qdv|0{#8|`~U#~0RjR500RC0{{aF50RaO60RI32{{j2~1N;I4{sa900ssO3{Qmj@{Q&*^0{{a70s#U40RaI80sQ|"
    b"0{{jL60Q~?00{;H~{r~{}1pfa2{{sF1|NZ_1{rUj@00001{saI30{{L1{{R95{`~&{{r~{}1pog8{`>&}0|EO1{Qmp^0s;"
    b"d4009C30|Ng50sjF10RjO30s#X3{{R63{sR300saC2|Na914gmK800amC0002+1ONg7000000{{RA_y7O^000000000000"
    b"000000000000000000000000000000000_yqv@0RROB000002LJ&6`v3p{00I600S5p800000000000000000000000000"
    b"00000000000000000001p5vE^Zoz^0{{R30Q?020{{R30002~008*_0000000000000000000000000000000000000000"
    b"0000000Q|20RH{}1qT2C000RD0099200030{r~|5000000000000000000000000000000000000000000000008{}0|5X"
    b"30t5sA0tNH_`T+m`0s#L2{{Qm(`2hX?0{r~|{{{d2|Nj02{{a8{1O5R8|Ns900ssB~`u_w40sr~_`~&_60RI91{s;d70si"
    b"{^`Tza``uzO?0sZ^~0S5p8{{H?40005}0sa8}0RsUB{{RC5009611OEO0{sH;@1O5a7|Na621_BKL1qK5G{`~>|{RI8}1O"
    b"o*H{Q>&;0|f;J0}KKB1^W5<1p)#1{s#mD|Nr^?0ssjH0s00C`UCz10ssC20R{pM00jmE0{;C0{`~~~{R9IA1^of~_yYw61"
    b"_KNM`UU#=`2_+2`2Gh31ONZ|`~m<81_Am83i<&50RI341Ofj50{;N|{s{pB1NQv~0|Ep6`2hU``T70@{rv&@`~U(40to&9"
    b"{rUp{{{9040R000{R0I40RaX8{{a601Ox&900RF2`u+(40t5E_2Ll2F{rLd>1Nr&>1^xX2`uqR_1p)~E0R8#{0RH|10|5O"
    b"3|NR35{s9370qzO_`UL<81^@s600jX61Ofm60006800s2`00000000000000000000000000000000000000000000000H"
    b"g_0Qv<02nGNE000F600aU6000021^@;1000000000000000000000000000000000000000000000008{@1ONp600jjA00"
    b"00C{r~{}000001OEUB_W%F@00000000000000000000000000000000000000000002|`UC(3{Qw08000004E_KB{r~^~0"
    b"0aL32=@R00000000000000000000000000000000000000000000001Oo#E0RRO91Ox&D009661p);E0tEm900aXA009C4"
    b"0RjU60RaI400RR81q1^D0RsU50s;U40RR931ONa60|NpC0{{L40RsX70RjO2000030RjL4{{R600s;X6{{8_00RR2~0099"
    b"30ssI60R#a600II4{{8^|{{sL30RR2{{{H|00RRF31pWI0{{Q~||N8>{{QUv`0s#O2{{8^}0R#R4{rdm@{{Q~{|NQ>}00a"
    b"L1{r&&|00I8|{{Q^_{r>*|0RaF400jN}0{;L0{{Q;|{rvp_{sI91|Ni~}{{aL30sZ>_{{H{|{r~*`0RRL3{{8*{00060{Q"
    b"m#^{r&s<0ss8{{rmp`{{H{~{Q&y_{r&*|0ss8`{{Z^_|Ns8{00IF50RI94{sR5~|Na2~00RF10RjO90RR901pWQ{`vL#_{"
    b"r&s@0sj900Q~^_0R8>|{{jE}{Qm&@{{R2}`~U(00s#L40{#O1|Ns5~{{RC1{{aF41pxp5{{#j34FLK600asE0000C0Ra61"
    b"000000RI32_W%F@000000000000000000000000000000000000000000005`3(U1{s06D000003;_WB0ssI2009300`~v"
    b"_000000000000000000000000000000000000000000000{`ds|`~Ls|0RR9101g2F00aO40006000Q>_0000000000000"
    b"000000000000000000000000000000000RH#|0Q>&{0RaF2000gF000C400001{s02^000000000000000000000000000"
    b"000000000000000000008~~|NH&^0tE*9`~dv@{sIC50s;X7`v3s}0{{X7{QUs}1_J&4|NZ*~1_S~D{{sI2{{aC60sa92{"
    b"s0C70RjU80s{X2`vCz3{s8>|0Q>*}0RjI3008~~{s9620s#O2{{#R2{{R300Rsa8{sIC3{Q&;~0|NX1|NQ<1{{jI4{`~;|"
    b"{s0971q22G`vU_1{Qv>|1pNK}1N{O30sj2{0s#XA0R;g80s#F4{Q>~}{{aI1`vCs|`~m&|1OEL21pfU1|Na040|f*I0s8|"
    b"2|NQ^~{RI5|{sa9200I8|{sI951OWvB0RjO11pNX4{r>?1{rdp_0sH~}00aL00t5j7{r>_000930{{#U70RQ^{{{aC20s#"
    b"L20RR8~|Nj90`~d*_00IC10RaC2{sQ>{00961`vCs|0s;R2{{R310R8_0000300RIF50s#N}0RI6200IF200960{{Q~~|N"
    b"H>}`v3v|{{aC10saE{0RRC20Q&&{0RjR3|Nj602KEL3`TYO_3jhEB00{U1{{jF20002}00#U3000000000000000000000"
    b"00000000000000000000000000#C30Qvm@0t)~D000R10RI9200000{Qw6100000000000000000000000000000000000"
    b"0000000000008;(0RaB}00jR400008{{a320000000030`2YX_00000000000000000000000000000000000000000002"
    b"_^8o<<{Qw02000002>$^70{{R300000|M>s_000000000000000000000000000000000000000000000"
)
"""Corrections by the contents of windows of four cells: a byte each, in steps of 1/32 point.

Learned from deeper searches by `python3 -m benchmarks.training`. There are six sets: a phase each
with pop-outs left, then without. Each has ten tables: two of windows in rows, by
the parity of their height; four of those in diagonals and four of those in columns, by the parity
of the lowest cell's height and by whether the player who makes the last move may pop out of its
column. A table has the codes with an empty cell in order, with 1 for the last mover's tokens.
"""


LEARNED_WORTHS = (
    b"0052uNB{Evy#AT~Wd2kBME*Gb4F2H&MF9T)ssD5TQ2!hM3IF>3?*764j{)ZZf&eW5_y5%Yp8t&hegAR)L;q9)s{uO!$N-T"
    b"5ZU8s{B>)xx3IN>y5(8-h`2l(XB>@2e%K*6msQ{b+ZvbQh`vHpr3j?bIX#_I`AO;Wz0|?a!Lj&3ZX#?p4i3B_a=LOUT!w0"
    b"trhzSA&m;)ySrvyd?`30E<X9rgZN(mbZxCBlF-2_|(`vt8AO$QJN;t13Ur3z&Q`vi#v2?nSJSqJ$Cya<5_RthHz3<jbFFb"
    b"1y%P6z)7p9o<ICkpTiq6+{3^8ls+^#Q*DL;)rN!vMbkT>u0CO#qSsLIRBfRRY%mwE<88NCD#jhXA$zxd8eBLIMT?g#lmz_"
    b"yFwyg#aZ0JpVlaJpmO0)&WuhDgnL#u>eK@<NwS4$^XUxT>-8ECjtBbjR1TA4gjeC68{YV2LYP_tO2wEh5-}-00EBxCIC17"
    b"FaIR~wgAKci~#NccmQGm?f-%Qvi+z2oBt>PGXVJi82~c?8UUjIGyiG*TmDP`*8koApZ~r8m;Vg_lK&w8U;R%0JpaT0$Nz@"
    b"^q5pXQt^dORP5;vUzW%8HEC4M4>Hh%$)&B<o+yD0e004;pJOA?jrT%RGMgAiG{{80t(f!5%Qvd=0w*O`SDF6Ka*8Z;klKy"
    b"%APyx{Zi~u|U=l`ewcmGZQA^!pY<o^5tdI2c`<^YWVNdOf9=l{3=l>c)7umUOq)&YkBI|1?ly8wv*RRApj2mp}+M*{8wn*"
    b"&4y2nEdrmj+)4Gzbd`f&()H*8_kAB?a9DuLgAoIS2{~-3del@dJ?rHwD)Pj0RE%B?#pRvI&6-`vj!~K?ULke+DoI@&~yHh"
    b"6zs!8Vj)nR|W3{j0PnK(g%<TQwbCb>I$+8eFh%}vj$8D;RlKcL<s{5!3v8DUkm^M000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000007?qo&Qw-2m"
    b"iwUjQ&af4*u8up8b~qa{w{`>HnMmR{tRX-2S2dYW^_(Gyw?#&H#h}HURPey8m|nI{yRz$^O^@tO05PB>~m|kpNl%6#&`)q"
    b"W@_Bg929q6#~fte*rlG0s*}MfdEMW4gk^u<pQDuRs;nF#RZK9NCyiD(+HRehy$DhSOg3Oy9ILwKnME=z6gd1N(wRrMFar_"
    b"wFP4a8wcSBp$KFND+=!l&;;WIp9N6{00*}ReF!!Q{t3kjhzoKBgatqb@&=#>R|p*m)d`jgVhbe<BL+1F@CKs?PzVPJ%n5`"
    b"FMGFcH(hL9q00000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    b"000000000000000000000000000001^@;C0{{j9008&@`Tza@{Qm#|000L7|NjL5|NsC0`~Uy{000F50{{*H0RaC0<p2Bs"
    b"001Na5&-}I{{I922ml5E0{{pB008>``TzX?_Wu9?000XB|Nr>^2>=iP`v3g@0|5U20ssmC0|5U2`2YO>000;O6#xVP_5ZH"
    b"_1pos80RRC2008;_{Qv#`{Qv*|000930RRF3|NrLy00000000000000000000000000000000000000001^@y80RR91008"
    b">`{Qvy_{Qv*|000F50Ra5}0RSTa00000000000000000000000000000000000000001ONa400960|Nr^_{r~;{0000000"
    b"031008~}0RRX900000000000000000000000000000000000000001ONa400960|Nr>^{r~>|00000000620RRC2{r>|10"
    b"00000000000000000000000000000000000000000000000000000000000000007ytkO0092~1OP7p000000000000000"
    b"00000000004gdfE000C4{Qs-}00000000000000000000000007ytkO000930s!a#00000000000000000000000004*&o"
    b"F00000`~M3700000000000000000000000007XSbN009601pw~<0000000000000000000000000000000000000000000"
    b"00000000000000000000007XSbN000620RYhd000000000000000000000000000000000000000000000000000000000"
    b"000000007ytkO000000{|`n000000000000000000000000000000000000000000000000000000000000000007ytkO0"
    b"00620RSQZ0000000000000000000000000000000000000000"
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
    b"5~-*a<EYi4rXLQegD6iWVkt<bt*D(G2BM#wVXdH~Ik4WPSgFq=NuENZfu{$mSTC_1ey%hn`lnYN7ow1!yrjh^V4X!Msig6"
    b"sqAHjsYoyMptsz*ba;PvQH!$`s87R~vbRK~vuc#U+EET#b0U6sQwx?;TAR@n|=q3E1ktCm#GZ*=%A|yPqcp;T1#-Ey|z94"
    b"?DGo+gxtEi?f&Z)Yj!5b|gs3_7J6Cl?qj-N-Fk&ZR0`K^eU02<gF*eoBXX`(Qnq$RtJ#-7ioM5Vr|sUk!unxnXz45czBdl"
    b"ucIr69bcV<;Y~SD?QheW*JoqMwDVe5eAhY?PN2*C@ZATqmKUkD~J}*&+!j=O=`uhLze8`6#8US|n|u8=zvCHzRK<U8by+t"
    b"DX;_jiCM~qn!sO(<D8fuBAhyS)E6pf}<=WF(^8yk{Gij0i2pFxS(&PaGS82e4)glX&}HMtf4ih=O&S#+oeD#`=#opE2>Ty"
    b"<SB=)6d_ZYIWS!!nxyL+avKCF5~<cDXPS2%vn{!%79<ZUUZ-%W9je4AXC~LF*DoU_g`5s6_pHH}<fG0r+$J8e7boT+B`9O"
    b"68X+qyGb>dY@FZv}79OA}up}R;^Bv(RhOP~^c&NFp;3N*L%BKRHx~#=6Ii^jkV5;OTwX3l#c`UD>trnXd!=P3eJ{IMlgqw"
    b"OFrK0i-o*>Yo?j79{a2})~bspCwQljsbxf^K{sG2M&f*miG>kz9Tf}kIoA(!(Sq@>OwO%v}O4WSGc#TWpd<{v*Ej2xsQ+#"
    b"l~CeIHDsqaJso$RK2!MIhXs6e4|}EGok!*B%BRX`!c}e4K<JOeK&eL9&ddu?)5%7@?UacOVO;Ko$k8Z!5Pa->2Ltnxc~-b"
    b"t|-~{Un2!WTbwihAUX9M<UIh8loaEY9CfHIIPyG6Det<TcBI2PAf4jV<2!ZoTT=oyQXd>J*)pH(5C4rZ>K|>NhQB4in4ki"
    b"%Pq<*Zz;<o&7l6PVk*=e6sLivHKwT}YMZf)zo(xiV5|0|;wP1<+Ac#Qt}7lY5TUr4h^|5?y`2D;homZ{8>mw#rX7DMa~xi"
    b"+9UVv>tgd$=*QCBL{;IDfm7+Ny)hAn`ek3C)cbLW|T&&?91Stg_vn<>mgQ3tZ*P$~hHX`OEAt;L|=aIH8tfZ5uqL#!e1`}"
    b">1Eh`D49;mY^j3F_w&ng(P5~%d7BCQoI!6xk}9j`C1G8|!`C?xqT?WiU%s~_quZmBl2U9c&tZLZlQeWgw+#U-629;DNvVJ"
    b"g_HV5ecE0xCDC)uP3!pQXa2lq!%d(k#p<%CHrw%&Q})$E-;yUZ`{<+N(MwA|)`S9wFzf=`511Os!F?S|tChH>hu|fvsyZj"
    b"U>?~5vZe=$EF)CA10tD)*XSeS+Ei@NT?C2Ix8qP#H@-Qn3#T};~+z+A~4@0q$&U-Gb3s>YA+4~Zl$RkPaM&kjIPYAPox#A"
    b"MK9hkG%F#Mm@Lb(qBHL=kTMgbFsw#3ZkJ=ETcmLzek2E|9iZJHbtER6c^l)SE+w6zVx%;w5}7ij-Wj4HULjMQTN56nOcK1"
    b"QZkg;5X(}d}1t72)a+qJJHz!b_hN(sm)}2xm7p)^5d7djL7n|gd^%xr<@g&QkycUF>r<$NB9iVq83>uN82rE4#ULcX6)GH"
    b"LE0Du4h0Du610Du610001h0Du4h0Du61000000001h0001h0Du4h0Du4h0001h0Du4h0Du4h0Du4h0Du4h0001h0Du4h00"
    b"0000Du4h0Du61000000001h00000000000Du610Du4h0001h0Du4h0Du61000000Du61FP(rZsTydrTq#SfvZ`~qHKI!?="
    b"dG?VG9ZpDDx{sO<|0BaSFxe8jv_Z7j;9nX05g-W=A_6dHXli?tRavqf1LC(J}w=x!Yt}5W~Cdunxb>0Hm?{cULriF4k0S8"
    b"+aPo^K{xE9s;nZguP)>uJE+$w4ymB3fhx2tvaUxdZY$)g{jI?%gSc-izqTZ*;U1VR#j>L`HmQ-M-?n=#F0xG|Nwh$$K(I3"
    b"<1TKWH5G`{cX`y7U$S9I1e7w6QX|L9>YpB*Nhp<hxTdAR@cC5;zs4{1wLn~0ONhw|~tu5g&Kd1&S+oBS-iKz;+*(rcC_^%"
    b"}&u`skTBQkU><0EJ#m@gtClckU(q$qKr%@Mq*?4F~Iyp`3b0xT;Z0Wni3&aA*ChoG_}F(&&d`lx0gGc1g#&Z)Dk^dg+FO("
    b">ckC@Djnrz9JtiLhNQa;i73*{B#O93aswMX8UjvLrJj4wPr4qNX*c2rcI&K_p%wydV=Rd$0GW=&z-qXCebAO({8}TOe5}a"
    b"iN-?4WTX|SShL`$S#U1eI*U6{waI0D=2RrswBxI>L5KQ$FC`^8mGG<zbr!~HLTMVpDAi0f~xqWAEccf^C-5cS{TEsvZ_>_"
    b"V<lasV4g}W2_=H0zN3$z+#)!tm?YsS3MP7&IiwIPbg6Bu(XLi07Oe5SdOx8+zC<E0(Y%1bqBTW2n>;f_OvIeT>>$6urNRi"
    b"qd$$BYYr^xvki|qkWVon37Qur!;XM{Tb3R1C6Te48{X0v(F~qY$jl-P4(mc~U*R{hqzQ)J5mcUFvCqA1%cfOXqhDClrSih"
    b"mcyS*hol03jYu{@eXXFcG-g1AO79V~k^0W=x84KJLnwYl`K2r{Ln=`z%+X0!b*peXAyPquq74z|E4WI2DLKQ-ShWwquv61"
    b"MBFLMi7byR`$jY%#XBhp}5V1SXZR#4z)$7cUk#r!<2xeK1$4Uow2AytyPbUnVyjGBNNVr8O-vr!1DO-l~JFZ!M26<1`ht?"
    b"X7$_dadFllr=jzp}8114K~~|P&YU(8?I$DM6y&fZ?CN>$~CYvj5ZdlGb*9E9yC3&^{^eZP_e2pwj|d!$*+Pq3^stX{Hzr*"
    b"4!Pno>bh+=)iCBW&M@OF@4Blv(l=)^lCUtgsk5rI%rKs&#Jp>`mnnv&+cOX`<+iWI0XNdgh_W5XyGN_MgTMvCVaB|}w?we"
    b"S8n?MTV?ZHAkva~>Ek+p2IWhJ+FTv10cSA?H#4Fv#8$8`aUdY<Kzs6BPJVk`Yl0sI&UA{5C%R5If2{<l2D!dHEqrBBV?mw"
    b"n1*Tx{kOuR5gU^~jl3^-CifkPd{Tg26~H@5XZdpf{E7r+s<*S=-A@3;v(S3WF3;<rXXtE?kES32gw%QM_T?KGQ0oVmNer#"
    b"tDq^SiG;;JC*<0=y<a5<>7de?ybHWHr1z+_on*j=Pw?xUq`3RJzDD+`J{OrMwcpR<|rPemyt4EHg(sufCH&S3K;v4z!Lqq"
    b"^_SkzP7Bq{Ji(GS|c1QjkI2~TPs|yZ9EeqG`$nLKQTt7tw3r&vNYW?8nfy#KdE@Bs<JY?*syB38nx{&s=jV9K&wSE5j1hL"
    b"RyJTM@j-z>*EXL)lC`9){xSQ)<E_EG!!x#|5;2pvlRS<xpf&U_y0x3WPPH(x;KA>;20li%yCLnK>7PKOaGxcjY88kkI*Ra"
    b"~>Zan7o*>dBK%6ckzZe`KsH8ijK@jGdEF3-^uADcSJf4`T6Ci>enw`rWrys7RvmX&0Wf&%?dmCvRZk@Rn9G+97ei~CA51R"
    b"ZSQ6w6f6AyZ!v?4v5^_GXJ{UAD?nV_vA+M92jlN!sX7_3JuD6H_VsklWlAhkoW=Ax6Tx3o33wyxbU`z5)srK5=ytu-j11~"
    b"N_<;wauN>#NH#Ry1ibPOrnVv@<!Y6fWZ}nYXGczcjiobS{LcDKYb;*fR?+^)O?y3oW6v1hulb>@bfo`L|B7=cEENn=BZz!"
    b"z%N$)->v{hOuon>!U%e#w^k+f+?6NjiIR`YMVQww5V$)9Hj#tbt1#9*c-zx3@mslI;~S9&>~i#{V8;*L?!X27%VLs*{+wM"
    b"38!VG?IHQ3TqH3lS*JND{wC5a(;_FYxFks^MWtG+yO{<q)+RWszORcTuNXF<oUTG9p`@6l86gEL^)GNJZyo$8P%IEFq_1?"
    b"VRwhuVV<L2@m8ViCwkn`2mz?u4n5EXO?-qTavML3jG9+QCI3fNjMKJ#_f*KYo)ug$bD<qvKyD`Kh0xH%g;U@v7?kBM)?xB"
    b"39?H+EQKB${3qNr=9JspFv2bS$DsU?J-`KQjMET`tGj}(j~XD%ct5TtmpqNO#pAum}pf;3z-w<3PFzcm}RAu`3X7B15>12"
    b"bSZ^sqfF>Nbfg4yQG%$gQ8Xo+!$+t*ce8VYLph{4Hv-i!T5)Yc$QVx2kBei?ngG_#yDF^e?ToOfDTSJv7EK1}0Lqa=6yAt"
    b"|DeJ953jwnVcgq9l5cspR|p)m!Ykg9v<|SJ|FlQVjT4!iWrt0jH48s`kv4XDizBfD~-1siI|I>2q0My?wK(h1{i4(jvCIP"
    b"6Bpwg3!(ayxul&Ln4B0O0u-1Yp8#AJ>6z~oz#Jwa2_F%a!4?o8z#1W=q8as;iX3Q{Kp@PFTctH1PZ5J3Y8<~D7oM`4p(^e"
    b"vH>Alk-y%$|52k52E}qD+fi>o(ShU`-Dy+^puqyzv460%-fi>PFoh2E!Yq4%Bbg-eY`6UP|Lb2p71+*@w9ylDdur-OPv?x"
    b")hBPxF^<F~z|{3}eN$|6RXMl8!F=cL#*Jgl0rA+ZQBhB2P2VKB}upsInjMTHNys;Qi(F|B5-Yb>iI;w&zv-!1H))gm{o0i"
    b"t~*K`rYTiymmEJt~f=vKUUCbt#9dEvUn*BPb&!qAZRmQYIuK(WM@(J)0mXT%0#6{GE26nxI4^X%|kdpDR=+Ii_u(<*Uu7B"
    b"P9K(WhX`}CMn)1kt1Lsts&Yhfuyt~DWvTp;4N^c<&+|rx}qo@=^j3)m!JZz$eW0w9kB$A!l)Z7Xs$;fHm#;Fm!3^Ac`BqP"
    b"8KsvWWT}p&v>f%QL8LJtu%Lq@!K%R{h_R?1%o!;o(IQZ#+a{VP!!BZ`MlFgeDJ;yPpcj#!kr<pPpBEt^cdN9aexIuw3#gP"
    b"IrKs2@y_}t@BP=r=8=_w!O(J8e>?52dM=%B~%qO%YAsb?&^QyF@jUd&aIw(LSbD<C`E1)i$_^Vhd51<LIv=Dt9A&+*Mw<Y"
    b"8wUnTvfvK<tclO*~m0;I1TA+C5Mey1WR<|Z&4IxF&+6q!&a8=M*_11;dB@u_2<l_ce<R-vw!yroF1KB}H7+otXuxh(cBaw"
    b"JnK>Z}JPo1m$vhau@F5vDPuUnu@73oMPLSgeI2&K^M|xgL%p7OQM9d=M_8S{jg}aHS|GB{8+6of+JuCM&}xgQhVf)TPWMn"
    b"I#Rc03E|7ODTjd1u6rmK_c~`*&W!V(w=Rt{47tVb*WA#bEhgO4W(6@OsLYJUZtF)b0~Z$54Ex^RWn<tGNCT4q$?0CIHj2}"
    b"$uW?v+bQ;{Bc%1AiVP4WW3nnPL!O}~Dx}yfWiO(s9xv#u1t_nhYbc{CtEU90<}jZp-m*-qTdfEnGBg9KNiU)ymZ)Sp2rMb"
    b"0wHAk_)g^iwb{w`bRFbfu@}YE>_@FeRDx;8=uaU2z2LOhp#v|mLk)RBbP#~P8y_jL6n4HTT>!IKtejlKh_L9+@$N)Q@@0~"
    b"^lwVSV*yBM#c(u66beGMBL*cKZdq9HdUBA6wl9HXkF{hnDJ$Dp8_GaN&s+#Z6ZcPJtty(ZF^5~g4tE*M%RUZ6=SAgMN+<f"
    b"Kg@%&c0W3aU{kk)-CET_n*d$tWGD8>$l^w5y4tP%1nojVN9vr>}J=%NT^67bvc(ni@YbN2G13Yc0$rLZ6s0Qz&>b3aoD`f"
    b"uo0|HJ?|Z?x|y>?xgA_&>|!$S`X@;w6Vx0pQ&3VKOx2>S*v)aoF=rT6CSszk0C^?Bcit@8>W)3<e#Id6RTk+U?5qpNFO+%"
    b"1(p;Xh#VxT%cCx&)2rGahbaW8%_*0nRjUjrCNScln;uT6Q7#IfxEP8j*(I|hK{PZeJE77i&Lk`-tS)4z^CKWCaj0A@>zkY"
    b"?-LTuC!>AA`;3#(@DJowrGbH0In6Gf4^smw?|0x71>Zs7KZLM=A*{<k@;3IdmB%-ISUM@f^fTV`4fvj1h&bSDzyC}URSF+"
    b"Qx1EqDZ!n&&f=PSo8bgU+ywx|*u8>ge90;;(qgey%gB`iv#z#y^__OBSImaN06Q8Ov11*M|09WSs8aVW4U4J4SU@2W*J*c"
    b"gwmj3}|4iZLNC+omC<;VOizkgRW<S2A#{@G(U!tf2ay;3kWv@uissVxx|vxiOR_`yp?x4X#zJ7%S4HNh)hBW28SIx}i6r%"
    b"P5Z|9w}w3*CLW0%O`@XuBqK8IVT1nd!-PFtE6Qu@h6xn5+C-L`XfOm3m$DP9-&(>e;zX{*qmZ0HYp#RNFXmM)E`--2dJ1I"
    b"d7_Xde4;9pX(ZzuG8%@SVx8>|d7M@jf1qZhjwEj>44Q$Q7bMXd0-%|gJE$-qvY@z}ydV}Jlc9JdbE5GfE*>bFGnz{x_nZ+"
    b"S!6nw3eIKtV7@yZCS|#!t%BA}z=Odmi{un(S0Du4h0Du610Du610001h0Du4h0Du61000000001h0001h0Du4h0Du4h000"
    b"1h0Du4h0Du4h0Du4h0Du4h0001h0Du4h000000Du4h0Du61000000001h00000000000Du610Du4h0001h0Du4h0Du6100"
    b"0000Du61xt&9@=rD_<S}oF;6}h~qtS6<e6|07;Gq0X3>oUx$jILI(*rh-zEi8Pg!?i&q`z;o%v@AZeS}l$$aI7^eOSJ*3y"
    b"003vG^MSk7@^N7-mow(WT4r$kR@`hx3b(Q(JXnmdMu_a-mmsBr>2}NrXnjNZmCAN5G>)W2`KNhfGHlQlQ4iKnYU{wtF{QL"
    b"XCghF6|fF4WUxghnJVNgwJYf(0<I=4bto?_g(cdlX|?4Q05J2d2QbdCjIE}aBDPVZ5+XP!E3aywxgkRyHYU`qbR;6Aa<31"
    b"lhpDHxx~yNT>!gsk-Y#XRqp3Zyte|Ttz#ls#1fJKgn<)Dg=dY2g2M`4olpW9?Un1Bjny)#an5f<;6|i|I9H6zQa2tAzX)%"
    b"nYrl|O=Qz+~vRGNAsDzOM7b|ILs7bYUEhb$*7=cHjJfiSNgMKTPr7oZrOsVMp*0W?A^^{DrwB`t%VE+Tp?E-WIbP%N0LTP"
    b"_K(n2?VsY^HFbl(YDy8zOBe;~gWNo*nKcKPon<?xq?cL@EU-AEW6l(=I0^M;hNIEu!2YNhnmQyC>)s*swIGey2SjK(ID5D"
    b"yi+LG$aEjpDHFI!>rUMI;dM3z@Wb^n52Rf^qhIBsi%{wp{R}y;H%!L+_5^CN-1}eYp%U8Q<qOH%PY(!{46dhro;6>%s|6D"
    b"$3MS79=fQyi$v?Te!~qoJ-vR#hCXh{y}jbbUBgjApTZ}(aW0ibWj~3*-oLNFLB6~+C_+QNg1qZNF2Ei~B))h*pT%%FNI+p"
    b"iphN3KTf!4S{W&m148y2E=)ZzJ$w!GsX~OY13B(ON;Xo?9$~!PYKft>|kt~ue+bqZ_nKf9s)1MKw=_pIMdMjHrX{?T<&a("
    b"$F6f})4cCh9vQ?50nmb67M5v4>b(k_cIr7~@*0;~G0Rj>%NT`J(XI<DEUGAmlFwko=&bR?WLkFa*G5}*yPb2WfBSh$xp8M"
    b"Zd8uqR!$#Hux}l(iMJp|BmXYOeCLY$(q#hB6Q<%C1Q;LNq)zs<)RiGcB63CaB6RR;jcz0W;q=V=aKKK`#<2r8Qr&`zo8Ug"
    b"(AW*YAoNeGOK7PVlD5i6*9vrU?WX3`z|RfJ}RO#<+(AnJgr11wk<su8M%lwL^P>0OeXlZ_N-kqi!j(Oo3;5iurEtB4XGb5"
    b"1wu^6xjj0(F1iWBjJC+VQO60fRX&<IuSNev_B!K2STX@cO+!`11w<0PkHDF~3pP7LT}MGQbGlMJK|yFYn?4o1NkfFXP&{q"
    b"L;kNd|=)zLQq`#TGoxyRxD8|df=reJ=Cqk0Jyv0+*TtIiYR76t0u)R;ah&t55vP7!C000000001h0Du610001h0001h0Du"
    b"4h000000Du4h0001h0Du4h0001h0Du610001h0Du4h0Du610Du4h0001h0001h0001h0Du4h0Du610001h0Du4h0Du610D"
    b"u610Du4h0001h000000Du4h000000001h0Du4h@I4W@LNYa=^q@SY{IJ+DdAaSkq%<$E^&?=mh_OH_3AvUSK|tBGUo^C}F"
    b"*sr^UcJjT2RzF)Niw>)Il8*Jj64%3e6&om+&zUhmO)iL;T$tIN;Ekm2D`qoU$_c2>l=fyi7K?YUA9M_)i#^7F*{+p-K`cb"
    b"f+evqD?%Kx=b3aO%cqN|^P)wc!KEjk7A4svAe>sFF{9m{<)}`c<f2?9cb}i5gd0N})gE}9O_yFEIiWJ87a2&QfRRL)SEa<"
    b"E7^L{6avaK@Wt@1Gn4Kj80ibXgyAly1ADuEF;h-QK0i*>NAR+0ZOPL#<8X6v?(wz(#SDm$&v6uoFVl;QK=(J@jjIRo*9W!"
    b"b$8?Fr|o-awENj3*CZ=ek}6Em<V=rgykF|G2fEw%TxU8%;cxi}p(ld-NT@v5ybJS?*!oiZD=nXGoQ*#xqdB&8X-$g$tBkg"
    b"Q|6TPxzSe>DEFXEpAt*0R8-k}=XOR5nhqEws5LthA0K<urdHsHs$`-lGd72C3v5bEjOE94ApADy;9OtEuOz8=tGCIVDsn5"
    b"31HEmamYYg`~WrQ!me}?x-LvF(V@#3$7QZ6Dm2Rk*V^PP$IOYW}(fXWvW)GNuKs4Ppon#+NCWjyP7bjpQ$>kL8v?+#2dya"
    b"fT}GmDWDFd?xi*(=A@)4!=C~xwGks5eI$~lM6Pcib1SPPW~`_soF5#YD<F;})GFvLa+R;D9V)<{h^rZ=7$usjVj^B9u_TH"
    b"u7OI{my`I&ZKBfY!%aU`X!lTEWPOMlV4kco(=cctCJu$|lt|<4Q^(G3bn<$v7&8lZBXe1>loTRuT$*hT(NSt!4>#-;?Ga&"
    b"$}{j4jQ5-&n894^VMfH6_9CYLN9l%PE*b+3G?a<Vfp93(5C>M=AcOfBoDv9`Uj+cM~~DX|={k+oVUZn6-dEvG0lWvAJo!Y"
    b"wv4HLUBfGA8FXM=Z!A#4--5AE;lkEU<U36|S2pW3>|{^DI>-RxA#xQ?%i*7M6mT9H0A-kOT{xP$1qTs-X~~3>yWfl_I1bV"
    b"i5QiCa0jHABO@McOx(yr6$>*Bp#KR4WR_5-;Z>mt)d~6`yr$p7N!%H=^P;$Dw#ExzZWm0u8;B?%bp3K{vLrGNFVT_ccqM-"
    b"x1KT`Z5<dF$Q!>KkeOy3pqwZR*?{k$#VWxpaj|41SgzKfa<2!heJdZNA2V3C7_joQ*0AU;EwQJxq$K+=#WU<G-6buxPo?~"
    b"~6e(u85H&S4N3n%1ny}g`o37!sbtq^d{iy6L*fLbG`zkuLUMFx4Ewu-_+ozzeowhSCU#fSwr?oyS!K^*7w4XDkQ!gE{3$U"
    b"@d-=9yOkr4r?Q6^$2R46E#oFA~CGA81x$s4I06D4aXhnbYB92+X5pdeNd$`=u>905!yyPzW)kR2B$JS3PV*Cg|-jGyx*t|"
    b"NgcW1yEMi6i77a3Q&?cPQ{E?-Ao5T&t3;sUc&kE+${0Rwl%qhZXE0aVt`w_@OD5FeJ$%KqSE-q%2%2@TFRrlq;+xVW~1IP"
    b"Aq$+7pH8d6r_hJKBZZrWT1Mc3ngkYP98}o>LP!wk);G4fG3+F>Zg4hqalMP{+`bx&ZHfm9HO?STqigwV<u84-!NP#fTi0n"
    b"^e2ufp`|pj<D9di8?3OV^OvKjvZMYaOOth#xGABhk03lG(<}&{(;8qUr7HrZY8(Tnj4KkXO(YbY|EKPxX(b7q)g7fKWT1k"
    b"mxD0kM#{w~|l_&<GOQw*bttqsNiYjiQFPAH+tt^_L7b;C3I;knF2rNG!;IU+!^Q?uUm7&3<-k#nm%p=C9B`JX@{;4#df0f"
    b"m#*CY?6y{mtdxuI^W*eeDl5h#!&-lTah&M>VdO0zd4X{B8zZYZ~<j4tD?yRCbb`6s3(W}sgpSsM4SKAlOV;vbBva;x{HjW"
    b"GnL?YEgJa4*BCa+vU`O)YMljH5rU5iFf68YVy`V5prbEeZc9*&Gb3G$e4Z0i2(v<)`DSX`_j+ZmhVjtS}fU7^Ph$c_~XJz"
    b"Ns@U1u2fHm99k={wJ3tRV1;cA|o8AcB)l0GO2>Gqax)Z@ti#=iY53h90=~Dv!~J^{is<hZzZs*O&@ZK-7bSJKrhIkC@r+D"
    b"ov~c1u&#!%?xQHF&LsUT7%-!!ppbVc44u8L4kZZ{bsT&mMyX~hH>GZ#Bpu8oa->fs9ihXdmZXTJ;-+_~&L4{*X($I9;-@m"
    b"Gk(F$zE}uA`?;vI!$d!Q^8=mYMo~7*_rK?t+WTLnxi6I^x>mXbpqZ+Rx`Xz=W;igO@#i4nmxg~m@4XD|h-yV1(rzM;rEGH"
    b"VFke)cA9U*8QLZ3^a5ToxV`;>#M+pZX=G%wsJ4kF7ZH!R*Pt*OPVPBIoO>n;)=11a(;yDl)S`mA6n?kPhkf-qvJSfzz2!7"
    b"AaUtF5>%)tXYQUoh1yOs$PDpdFkYiKsCxucRocRwOB?KPYhqVkvzpRwa|GvLzKRd#}kU0<4E9w4*69u`t`LJF0jgYA@-l+"
    b"@|Ry&>!g?X)GP6ek`J*XC}WXMV&sdoG4tK&?%#+1F@JX_NjQJS)#q5vX*%(F(q9uoUF{RoFE{iP^Ubp6Pj2m2&NV$Td3uw"
    b"crlk5mzgasCLtuG052q%_8plh_@7E3ZLJzBza!iwtR<8zz%0QkCKn$pJ1Rmf(ya2NLZBWb2`clP?;#Z>HYLcNYbC`iPNYt"
    b";bgnEOpD=zY?J7pG2PJ5yM5YoUeIVZ`kFkj@{UrUhc(}qLX|K~R?xB#Wb}Edr{U@#|0GTc*#IC9-8YAH$Qk*LzS}hf-psc"
    b"E)V6!u(XtD$-y)1>EuPBQx-6pcCk*1X`_@&~iAs<a3D=VO-1hFEenkWdZma5z>rK2vYLz-eFH>wph<fv<-PAfX3br}MX%B"
    b"j37E}e&=(5VWh2P>thtt`Hw7pZR^VkA$cY^H=E#;C=eVyGFGVJwuhkS&0lIizPGpe7e7Cob+KEg{PhF)>>vR4k+=B&uyNi"
    b"X71;qoM($qNj7DV;)AOppd63i=J;Ex}@zPJ|#?)!JE(`h@^p`l_N@{+nl^4Y#9un37;Pzhoi42v?ORJw3#v#vZO+yU7jW)"
    b"l_X*&U!>&}m#J7K;wZeHUL#_lD5M}5mZ92>jwtdBizI3!8Kb<QA}his(Gad6qo6J;Fez)C0Du4h0Du610Du610001h0Du4"
    b"h0Du61000000001h0001h0Du4h0Du4h0001h0Du4h0Du4h0Du4h0Du4h0001h0Du4h000000Du4h0Du61000000001h000"
    b"00000000Du610Du4h0001h0Du4h0Du61000000Du61j;Rndm@jlJ6|jIORIdlNEj6yP`>LzA2Qlj|X|K~LcQtA;N~B{ik1"
    b"0qn;}sRQqco|Y?k!BTtGK_bs<px?(7dmzB`X`f60Qp|^(-BoJGRUxC$HhG(JkDXSS>@R1f-`Q(=zTW1Sn`VuDEw8C9Ehia"
    b"w-+GGBwaD%d>#3y{{TF?<(!9?JN0_@3l*#F{@*r2Avo&$F3bIG_hZ;_^w2u3$IPBCn+~F(;hZ2njuB4EG!4JiZMeZleCMW"
    b"3#>&ka-@*4%b9YrTdudQ>aDA)Kr_ZKvMwnoTr4j!nJ?|KVk>i^s1%p7Zm`XyjinH=GO&uRmZtY1@~&GkMJFq-mnpp=f-#$"
    b"@h^vjQuqxg#Q>+iKJhYgurYzqypDt{v^{ULNv@3L@pfpjVrLUMWA~c?<v#>9;C?wdhdYTud1)p&)cd0R})~$3aRH+ZNlpe"
    b"<@P%I&+ODs38hB0X^q9fohPc1_&PcO)@^B@f}Rw)6i-mNaAEwX$nAuF7%2C5w#4J`I87$lgl;V7c9xGxwNgsjmmbS2KM^s"
    b"G{%ha(WK5-@A3@U7P;r>@kd+N%aA7AQ<CXRH4xQ!R|H)-7HueKJBaNUBw^3arL1%dWwms+^Xplpdj_OfvW;525s|ZJEs}i"
    b"7CY`-mjUd>8?qrov<D!doY|S+r{6ywLtkn3BYK*iL``ALB$HTn#YJj%|gDvdBEVrB*l`$gFbXWeaGZKA;@4tOFjz2{={Xi"
    b"#z4SE$3Rm+ojZoVku(yrt;9^d$2^)vIXo*l@U>|{P01>}2)?L13CLbUQa*((=sQP12gr^&_eQiofJvM{$+yP6h{CPEnI`}"
    b";LNF3AVJr=?cP`kh0;+$ct}ZPw%Pc~vz_bJ|Ixg=jJ+u=rimQpCM=4!2d?q6+A0oCfxR+=ucdkLKGP6vtZ6p!5?WzH=1+5"
    b"XPmNSzoCMY*BW+}9qTr8QeyC^0vTesOV{I4Ob&@Xwe0Hy=6WU|MwcC5RjTBw;VJ0E{D6)_vJf2^D#e=Th<*r?YipDXUP4l"
    b"ed7q%Gqq6tK)Q<{I!SwkbHKbSdx|T%ee)jjkK96|c9P<Q^xa3os=wtf>Dk+bw9VO%S{_FQ5jZ6Q&uqu`6ygD6$eLwynCe0"
    b"hK~4%`Aqr8mO-&1~9!ZO06TU+oPr`^(HT(3B`~;r9msZufTCVAvznyn7MetBtK2OJv6;N+(QYtQbjXHLc3qOAv0OTAVDg?"
    b"H8^!ar$h+2(ZE#34>}vew82R@3Bpb?dO+&A7dLarK)ztX?Lc_HXhsr1$2~N@lE0_Gzrk%o7r)fNLO~q5O30JNrp0c)enNI"
    b"X>_S2|000000001h0Du610001h0001h0Du4h000000Du4h0001h0Du4h0001h0Du610001h0Du4h0Du610Du4h0001h000"
    b"1h0001h0Du4h0Du610001h0Du4h0Du610Du610Du4h0001h000000Du4h000000001h0Du4h^rTX(|FJu;V>zR!5HZ)fB{"
    b"fz$C^+r5%({{}U$-Q^Be*g*jx^saFs0J54?W1OS-ercojPteDz~N{LAhBl$vU4h?<~c$OuNH08Kq6Q-zpP8E<1KL#VVDn#"
    b"x$3;>%EFGrnq^mpEO9Yf;elu=rsSL2sduA(7Zphra#RzzaRx6oT5FYvYPjshNgC#V<fgAP@VObo}ghMRiks4CL5C@iIt%f"
    b"+#yaM8y%*fF_1D0PaT4xm>|@hXcJh7oT6_W1QZS%H>J~<GMrN#0G_E9EgbI~qLGdwVjgZ7BOulYO`=6386RAr85_!@43Ai"
    b"$3zx8;l#kFAs}Q-M1v6%}i6DZqM;$e;Y%zu}KC{!U@h^*~K{1*l(zC~}8!k<v&oED|fV8Tr(X0Zsf2iOw^)X^KkRwwv(xh"
    b"!MRHrvErLR}7>oYd1-!)`3{Vu$>8!NQ2#4x?Fl(McXytJ&Y`7x@nnXq~=2sB@?+ArIw(y_g)3@~*vIWlcDWGsdzps~LvRH"
    b"fIbprGTYPAn^#*D9?oohLUb2qt<N^D2rX5u`vVSS%x~^r94{&Y|$1FR*AScqZ5?$RiJ&bsP|>`m8V@)u$dP2d+vi<Rz&q6"
    b"RI$%9jW*wH>>NVmM?~<WTm#Md8?Tun=GX+<18L5Rw{BIqau(etR_IDmMh0AAFmdY?5H=Vbglm^zA%?2&#a9e|0mZgh?}jb"
    b";;js;RIJ`5tTN?{YNf5Nq#)C$-=WwlfS(YmRi=?6E~sZPq@{DF0HYYJe<Ted1Ev!#qa?+kubyV8QL?oqKQLvjH7MOBw<iX"
    b"!1S`O%k1F6NwXk=nt)63^c&bjRO*88;O{`%e2(wEi#Gn?jgefVcGBef{o}i4fa3ZEJVXq&uGNsEbkupvx4k6hxV<lCz2DN"
    b"y%z8<9@p{(DrAuxV01~BHUF)N2HowB*ID=PvwFRnzaNGvt1D>I$0D=>bi@-P;)k*iIqt`5X9C$griVXr$eZLp%TjI5rs;+"
    b"hH~Asu<1F(6PR#wO+<R3O5Q2bYwmT$WrRP?;u~v8WrJTN^KtEE<5G6%>l3Cm0Z-fR|CEOB*L4r=Et8>mryR#+*l?hM-;{s"
    b"iJS2pO_n*M<XjBxS}x`vXtDK4II!IG^I`*T?_`IsURkw44%{=&L3KpunoPSiJ$|a%p-g?+O%$<qcP<qU#)#DFEK2xJ2a**"
    b"=pM_rOR_2|&9k^Na4Cc_5}IbDI<ob%lq8_3E1?Lu$unFxN-)PQN3i8CDxjjY9XRx{Rwz=lUZI|<hqO4Y_A3}O9}woGnlFl"
    b"}c&>G<kTCSIgtD-+_&0Dcd@Kwp*R1liHmokUL8Nn_$C)jt&?M+2yCpgsXB>{5JS4ZGH>Fr4UL{GO0FGd%n<V5OpPykEFrY"
    b"P~Ii0y62_Y>Yej{ffwHllvn;sgde<4RC=$v69I~*FL$f1`X{)K`TmLj$x*(Z`9ot00lvnKtXWF>v5cA=agf*}bW(<9C$<{"
    b"_vbwU(bHnZoG60X&sG7`qd@2)rJ=phU{SoIJBV3p(Pt+PLpI<GH&z5xT@WrMc5cgTYcdth%qh!MQ29hq{|RHM#yj4?90R{"
    b"=Cw;tUUa@b-$~+^}0ejsyksjDMKDUe!kPV*FBOuq`dP#Jh^x~&OZCP&^l<kmA>%0;60?bbiD(+ak}QcjJ4M~qDyYLq`m04"
    b"N4NqxM7bh48a(<pjkadCd_4xaL^+qaYdC+qBEV_5xI7=W(7#$alDA&C<TvEDTR-`_UOX(fbG#}!n!6jl>^+IMXFWtdVLMq"
    b"l$UJPf*S1<ZVLc4DqdMcaoIBY&>9&G6+q`DU(74S-8n>pqu(#;KiMjB(0XMom__#&Do422|Q8-DtLN<Ch+c+$?TeeR?{I%"
    b"~jZMNk%q`1O59>dQ!8p0pBrL`BhinfwBRJY+lrnMF~H@aQ8S2fnQLb&rZ>$MCzPc`8@@ir(p_PK<=95-1#B)DKXbF?-*FE"
    b"&xTBeegu&A0Ts89_v~5w<3{RK5"
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
