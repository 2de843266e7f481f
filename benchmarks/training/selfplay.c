/* A fast copy of the reference agent's adversarial search, which plays it against itself.

   Build: cc -O3 -march=native -o selfplay selfplay.c -lm

   selfplay probes SEED GAMES NODES_GAME NODES_PROBE WEIGHTS BOARD...  positions beside quick games
   selfplay playouts SEED GAMES BOARD...                             random games, to check the rules
   selfplay judge NODES WEIGHTS                                      judges the positions on stdin

   BOARD is 8x10 or 8x10+4 (four pop-outs each). WEIGHTS is a file; its lines are `name value...`, see
   `read_weights`.
   A position is `ROWS COLUMNS POPOUTS1 POPOUTS2 MOVER CELLS`; CELLS are digits, the bottom row first.

   `connect4/players/ai.py` explains the evaluation and the search; the names here are the same. */

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ME = 1, OPPONENT = 2 };
enum { ROW, RISE, FALL, COLUMN, KINDS };
enum {
    SIDE = 12, CELLS = SIDE * SIDE, LINES = 6 * SIDE - 2, WINDOWS = 400, ACTIONS = 2 * SIDE,
    PHASES = 3, SETS = 2 * PHASES, POPOUTS = 10, TABLE_SIZE = 1 << 18,
    CUT_DEPTH = 4, ENDING = 6, OPENING_SHARE = 3, ASTRAY = 3
};

#define CLOSE 1e-6
#define TEMPO 0.5
#define MARGIN 3.0
#define NEAR 8.0
#define RIVAL 6.0
#define BLEND 0.25
#define AGE 0.5
#define MOST_TOTAL 100
#define MOST_CORRECTION 30

static int power3[SIDE + 1];
static double *tables[SIDE + 1]; /* by length: the expected margin of each code */

/* -- Random numbers (xorshift64*) */

static uint64_t random_state = 88172645463325252ULL;

static uint64_t random_bits(void) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 2685821657736338717ULL;
}

static int random_below(int limit) { return (int)((random_bits() >> 33) % (uint64_t)limit); }

static void seed_random(uint64_t seed) {
    random_state = seed * 0x9E3779B97F4A7C15ULL + 0xD1B54A32D192ED03ULL;
    for (int i = 0; i < 20; i++) random_bits();
}

/* -- The weights of one player */

/* Of each player's pop-outs: the gain of the best and of the second, the sum of the others' gains,
   all where they are positive; the best and the sum of the others where they are negative. */
enum { BEST, SECOND, OTHERS, WORST, DEBT, SIDE_FEATURES };
/* The prize of zugzwang apart by who has pop-outs left (nobody, only the last mover, only the other; 0
   if both have), the gains of the mover's best drops, 1. */
enum { PRIZE_NONE = 2 * SIDE_FEATURES, PRIZE_LAST, PRIZE_OTHER, DROP, SECOND_DROP, ONE, FEATURES };
/* What the network sees after these features: pop-outs in hand of the last mover and of the other,
   the share of empty cells, the lateness, whether the last mover is to move, cells and columns of
   the board, the gains of the third and fourth drop, how many drops there are, the expected margin,
   the correction, the worth of pop-outs in hand, what the coins beside the prize are worth if the
   players take the greatest in turn, the greatest two of them, and the prize if the last mover is to
   move. These four are 0 while both players have pop-outs. */
enum {
    HAND_LAST = FEATURES, HAND_OTHER, EMPTY, LATENESS, LAST_MOVES, BOARD_CELLS, BOARD_COLUMNS,
    THIRD_DROP, FOURTH_DROP, DROPS, TOTAL, CORRECTION, IN_HAND, REST, COIN, SECOND_COIN, TURN_PRIZE, INPUTS
};
enum { HIDDEN = 64 };

/* All from the last mover's side. The first index is the phase, plus PHASES without pop-outs left. */
typedef struct {
    /* Kind, parity of the height of the first cell, 1 if its column is one that the last mover may
       pop out of, code of four cells. */
    double window[SETS][KINDS][2][2][81];
    /* By the pop-outs of the last mover and of the other; the second half times the lateness. */
    double hand[SETS][2][POPOUTS + 1][POPOUTS + 1];
    /* 1 if the last mover is to move, feature; the second half times the lateness. */
    double feature[SETS][2][2][FEATURES];
    /* Input, hidden unit; then hidden unit, and what is added. */
    double network[SETS][INPUTS][HIDDEN], output[SETS][HIDDEN + 1];
} Weights;

static void read_weights(Weights *w, const char *path) {
    memset(w, 0, sizeof *w);
    FILE *file = fopen(path, "r");
    if (!file) { fprintf(stderr, "cannot read %s\n", path); exit(2); }
    struct { const char *name; double *first; int count; } parts[] = {
        {"window", &w->window[0][0][0][0][0], sizeof w->window / sizeof(double)},
        {"hand", &w->hand[0][0][0][0], sizeof w->hand / sizeof(double)},
        {"feature", &w->feature[0][0][0][0], sizeof w->feature / sizeof(double)},
        {"network", &w->network[0][0][0], sizeof w->network / sizeof(double)},
        {"output", &w->output[0][0], sizeof w->output / sizeof(double)},
    };
    char name[32];
    while (fscanf(file, "%31s", name) == 1) {
        size_t part = 0, known = sizeof parts / sizeof parts[0];
        while (part < known && strcmp(parts[part].name, name)) part++;
        if (part == known) { fprintf(stderr, "%s: unknown weight %s\n", path, name); exit(2); }
        for (int i = 0; i < parts[part].count; i++)
            if (fscanf(file, "%lf", parts[part].first + i) != 1) {
                fprintf(stderr, "%s: %s has too few numbers\n", path, name);
                exit(2);
            }
    }
    fclose(file);
}

/* -- The board's shape */

typedef struct { int line, weight; } Crossing;

typedef struct {
    int rows, columns, cells, lines, windows;
    int first_column_line;
    int length[LINES];
    Crossing crossing[CELLS][4];
    struct { int line, place, other; } shared[CELLS][CELLS]; /* line -1 where there is none */
    struct { int kind, height, column; } window[WINDOWS];
    int windows_of[CELLS], window_of[CELLS][16], window_weight[CELLS][16];
    uint64_t keys[3][CELLS], turn;
} Shape;

static Shape shape;

static void fill_tables(void) {
    const int worth[4] = {0, 2, 5, 20};
    power3[0] = 1;
    for (int i = 1; i <= SIDE; i++) power3[i] = 3 * power3[i - 1];
    for (int length = 1; length <= SIDE; length++) {
        double *table = tables[length] = malloc(sizeof(double) * power3[length]);
        for (int code = power3[length] - 1; code >= 0; code--) {
            int empty = -1, points[3] = {0}, run = 0, last = 0;
            for (int place = 0, rest = code; place <= length; place++, rest /= 3) {
                int token = place < length ? rest % 3 : 0;
                if (token != last) {
                    points[last] += (run % 4 ? worth[run % 4 - 1] : 0) + run / 4 * 20;
                    run = 0;
                }
                run++, last = token;
                if (!token && place < length) empty = place;
            }
            table[code] = empty < 0 ? points[ME] - points[OPPONENT]
                                    : (table[code + power3[empty]] + table[code + 2 * power3[empty]]) / 2;
        }
    }
}

static int line_of(int kind, int height, int column) {
    switch (kind) {
    case ROW: return height;
    case RISE: return height - column + shape.columns - 1;
    case FALL: return height + column;
    default: return column;
    }
}

static void add_windows(int kind) {
    int up = kind == ROW ? 0 : 1, right = kind == COLUMN ? 0 : kind == FALL ? -1 : 1;
    for (int cell = 0; cell < shape.cells; cell++) {
        int height = cell / shape.columns, column = cell % shape.columns;
        int top = height + 3 * up, end = column + 3 * right;
        if (top >= shape.rows || end < 0 || end >= shape.columns) continue;
        int index = shape.windows++;
        shape.window[index].kind = kind;
        shape.window[index].height = height;
        shape.window[index].column = column;
        for (int i = 0; i < 4; i++) {
            int inside = (height + i * up) * shape.columns + column + i * right;
            shape.window_of[inside][shape.windows_of[inside]] = index;
            shape.window_weight[inside][shape.windows_of[inside]++] = power3[i];
        }
    }
}

static void make_shape(int rows, int columns) {
    memset(&shape, 0, sizeof shape);
    shape.rows = rows, shape.columns = columns, shape.cells = rows * columns;
    int start = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        int count = kind == ROW ? rows : kind == COLUMN ? columns : rows + columns - 1;
        for (int cell = 0; cell < shape.cells; cell++) {
            int line = start + line_of(kind, cell / columns, cell % columns);
            shape.crossing[cell][kind] = (Crossing){line, power3[shape.length[line]++]};
        }
        if (kind == COLUMN) shape.first_column_line = start;
        start += count;
        add_windows(kind);
    }
    shape.lines = start;
    for (int a = 0; a < shape.cells; a++)
        for (int b = 0; b < shape.cells; b++) {
            shape.shared[a][b].line = -1;
            for (int kind = 0; kind < KINDS && a != b; kind++)
                if (shape.crossing[a][kind].line == shape.crossing[b][kind].line) {
                    shape.shared[a][b].line = shape.crossing[a][kind].line;
                    shape.shared[a][b].place = shape.crossing[a][kind].weight;
                    shape.shared[a][b].other = shape.crossing[b][kind].weight;
                }
        }
    for (int i = 0; i < 3 * CELLS; i++) shape.keys[i / CELLS][i % CELLS] = random_bits();
    shape.turn = random_bits();
}

/* -- A position, seen by the player who searches */

typedef struct { double gain; int action; } Action; /* a cell, or ~column for a pop-out */

typedef struct {
    int codes[LINES];
    unsigned char windows[WINDOWS];
    Action drops[SIDE];
    int drop_count;
    double total;    /* the mover's expected margin */
    uint64_t key;
    int mover, own, other;
} Position;

typedef struct { uint64_t slot; int depth, bound, action; double value; } Entry;

typedef struct {
    Weights weights;
    int player;
    double corrections[SETS][WINDOWS][81]; /* mine */
    int corrected; /* the last mover they are for, or 0 */
    Entry *known;
    long nodes, limit;
    int solved, last_mover, phase, depth, sounding;
    double value;
    /* Before the last ply, with `phase`: what counts beside expected margins and pop-outs in hand; the lateness. */
    double beside, late;
    Action replies[SIDE]; /* and the pop-outs of the player to move after it, best first */
    int reply_count;
    jmp_buf spent;
} Engine;

/* A game's position as the rules know it. */
typedef struct { unsigned char cells[CELLS]; int popouts[3], mover; } State;

static double gain_of(const int *codes, int cell) {
    double gain = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        Crossing at = shape.crossing[cell][kind];
        const double *table = tables[shape.length[at.line]];
        gain += table[codes[at.line] + at.weight] - table[codes[at.line]];
    }
    return gain;
}

/* How much the gain in cell `b` grows by a token of the mover's in cell `a`. */
static inline double gain_change(const int *codes, int a, int b, int mover) {
    int line = shape.shared[a][b].line, weight = shape.shared[a][b].other;
    const double *table = tables[shape.length[line]];
    int old = codes[line], new = old + mover * shape.shared[a][b].place;
    return table[new + weight] - table[new] - table[old + weight] + table[old];
}

static inline int before(Action a, Action b) {
    return a.gain > b.gain || (a.gain == b.gain && a.action > b.action);
}

static void sort_actions(Action *actions, int count) {
    for (int i = 1; i < count; i++) {
        Action item = actions[i];
        int j = i;
        for (; j && before(item, actions[j - 1]); j--) actions[j] = actions[j - 1];
        actions[j] = item;
    }
}

static void set_cell(Position *p, int cell, int change) {
    for (int i = 0; i < shape.windows_of[cell]; i++) {
        int index = shape.window_of[cell][i], old = p->windows[index];
        p->windows[index] = (unsigned char)(old + change * shape.window_weight[cell][i]);
    }
}

static void read_position(Engine *e, const State *state, Position *p) {
    memset(p, 0, sizeof *p);
    int landing[SIDE];
    for (int column = 0; column < shape.columns; column++) landing[column] = column;
    for (int cell = 0; cell < shape.cells; cell++) {
        if (!state->cells[cell]) continue;
        int mover = state->cells[cell] == e->player ? ME : OPPONENT;
        for (int kind = 0; kind < KINDS; kind++)
            p->codes[shape.crossing[cell][kind].line] += mover * shape.crossing[cell][kind].weight;
        set_cell(p, cell, mover);
        p->key ^= shape.keys[mover][cell];
        landing[cell % shape.columns] += shape.columns;
    }
    for (int line = 0; line < shape.lines; line++) p->total += tables[shape.length[line]][p->codes[line]];
    for (int column = 0; column < shape.columns; column++)
        if (landing[column] < shape.cells)
            p->drops[p->drop_count++] = (Action){gain_of(p->codes, landing[column]), landing[column]};
    sort_actions(p->drops, p->drop_count);
    p->mover = ME, p->own = state->popouts[e->player], p->other = state->popouts[3 - e->player];
}

static int empty_cells(const Position *p) {
    int empty = 0;
    for (int i = 0; i < p->drop_count; i++)
        empty += (shape.cells - 1 - p->drops[i].action) / shape.columns + 1;
    return empty;
}

static int plies_left(const Position *p) { return empty_cells(p) + 2 * (p->own + p->other); }

static int ends_soon(const Position *p) { return (p->own || p->other) && plies_left(p) <= ENDING; }

/* Calls `line, change` for all that a pop-out changes; returns the highest cell that was taken. */
static int pop_changes(const int *codes, int column, int (*changes)[2], int *count) {
    int rest = codes[shape.first_column_line + column], cell = column;
    *count = 0;
    while (rest) {
        int token = rest % 3;
        rest /= 3;
        changes[*count][0] = cell, changes[*count][1] = rest % 3 - token;
        ++*count;
        cell += shape.columns;
    }
    return cell - shape.columns;
}

/* The mover's gain from a pop-out of a column that is not empty. */
static double pop_gain(const int *codes, int column, int mover) {
    int line = shape.first_column_line + column, code = codes[line], changes[SIDE][2], changed;
    double gain = tables[shape.length[line]][code / 3] - tables[shape.length[line]][code];
    pop_changes(codes, column, changes, &changed);
    for (int i = 0; i < changed; i++)
        for (int kind = 0; kind < COLUMN && changes[i][1]; kind++) {
            Crossing at = shape.crossing[changes[i][0]][kind];
            const double *table = tables[shape.length[at.line]];
            int old = codes[at.line];
            gain += table[old + changes[i][1] * at.weight] - table[old];
        }
    return mover == ME ? gain : -gain;
}

static int pop_outs(const Position *p, int player, int mover, Action *actions) {
    int count = 0;
    for (int column = ((player - mover) % 2 + 2) % 2; column < shape.columns; column += 2)
        if (p->codes[shape.first_column_line + column])
            actions[count++] = (Action){pop_gain(p->codes, column, mover), ~column};
    return count;
}

static int actions_of(const Position *p, int player, Action *actions) {
    memcpy(actions, p->drops, sizeof(Action) * p->drop_count);
    if (!p->own) return p->drop_count;
    int count = p->drop_count + pop_outs(p, player, p->mover, actions + p->drop_count);
    sort_actions(actions, count);
    return count;
}

static void play_drop(Position *p, int cell) {
    int mover = p->mover, above = cell + shape.columns, kept = 0;
    for (int i = 0; i < p->drop_count; i++) {
        Action drop = p->drops[i];
        if (drop.action == cell) continue;
        if (shape.shared[cell][drop.action].line >= 0)
            drop.gain += gain_change(p->codes, cell, drop.action, mover);
        p->drops[kept++] = drop;
    }
    for (int kind = 0; kind < KINDS; kind++)
        p->codes[shape.crossing[cell][kind].line] += mover * shape.crossing[cell][kind].weight;
    set_cell(p, cell, mover);
    p->key ^= shape.keys[mover][cell];
    if (above < shape.cells) p->drops[kept++] = (Action){gain_of(p->codes, above), above};
    p->drop_count = kept;
    sort_actions(p->drops, kept);
}

static void play_pop(Position *p, int column) {
    int changes[SIDE][2], changed, kept = 0;
    int top = pop_changes(p->codes, column, changes, &changed);
    int line = shape.first_column_line + column, rest = p->codes[line];
    for (int i = 0; i < changed; i++, rest /= 3) {
        int cell = changes[i][0], token = rest % 3, falling = token + changes[i][1];
        if (token == falling) continue;
        for (int kind = 0; kind < COLUMN; kind++)
            p->codes[shape.crossing[cell][kind].line] += changes[i][1] * shape.crossing[cell][kind].weight;
        set_cell(p, cell, changes[i][1]);
        p->key ^= shape.keys[token][cell] ^ (falling ? shape.keys[falling][cell] : 0);
    }
    p->codes[line] /= 3;
    for (int i = 0; i < p->drop_count; i++)
        if (p->drops[i].action % shape.columns != column) p->drops[kept++] = p->drops[i];
    p->drops[kept++].action = top;
    for (int i = 0; i < kept; i++) p->drops[i].gain = gain_of(p->codes, p->drops[i].action);
    p->drop_count = kept;
    sort_actions(p->drops, kept);
    p->own--;
}

static void play(const Position *from, Action item, Position *p) {
    *p = *from;
    if (item.action >= 0) play_drop(p, item.action);
    else play_pop(p, ~item.action);
    int own = p->own;
    p->total = -p->total - item.gain;
    p->key ^= shape.turn;
    p->mover = 3 - p->mover, p->own = p->other, p->other = own;
}

/* -- The evaluation beside the expected margins */

typedef struct { double prize, rest, best[2]; } Coins;

static int by_size(const void *one, const void *two) {
    double a = *(const double *)one, b = *(const double *)two;
    return (a < b) - (a > b);
}

static Coins coins_of(const Position *p) {
    Coins found = {.prize = 0};
    double stack[SIDE + 1], coins[CELLS];
    int empty = p->drop_count, count = 0;
    for (int i = 0; i < p->drop_count; i++) {
        int height = 0;
        stack[height++] = p->drops[i].gain;
        for (int cell = p->drops[i].action + shape.columns; cell < shape.cells; cell += shape.columns) {
            double coin = gain_of(p->codes, cell);
            empty++;
            while (height > 1 && coin <= stack[height - 1] && stack[height - 1] >= stack[height - 2]) {
                coin += stack[height - 2] - stack[height - 1];
                height -= 2;
            }
            stack[height++] = coin;
        }
        for (; height > 1 && stack[height - 1] >= stack[height - 2]; height -= 2)
            found.prize += stack[height - 1] - stack[height - 2];
        while (height) coins[count++] = stack[--height];
    }
    if (empty % 2 == 0) found.prize = -found.prize;
    qsort(coins, (size_t)count, sizeof *coins, by_size);
    for (int i = 0; i < count; i++) found.rest += i % 2 ? -coins[i] : coins[i];
    for (int i = 0; i < 2 && i < count; i++) found.best[i] = coins[i];
    return found;
}

/* 0 late, 1 in the middle, 2 early. */
static int phase_of(int empty) { return (empty * 3 > shape.cells) + (empty * 3 > 2 * shape.cells); }

/* Keep the phase, and how far the last third of the board is filled. */
static void note_phase(Engine *e, const Position *p) {
    int empty = empty_cells(p);
    e->phase = phase_of(empty), e->late = fmax(0, 1 - 3.0 * empty / shape.cells);
}

/* The worth of the pop-outs in hand to the mover. */
static double in_hand(const Engine *e, int mover, int own, int other) {
    int last = mover == e->last_mover ? own : other, first = mover == e->last_mover ? other : own;
    last = last < POPOUTS ? last : POPOUTS, first = first < POPOUTS ? first : POPOUTS;
    const double (*hand)[POPOUTS + 1][POPOUTS + 1] = e->weights.hand[e->phase];
    double worth = hand[0][last][first] + e->late * hand[1][last][first];
    return mover == e->last_mover ? worth : -worth;
}

/* Returns how many pop-outs there are; leaves them in `pops`, best first. */
static int side_features(const Position *p, int player, int mover, int popouts, Action *pops, double *f) {
    int count = popouts ? pop_outs(p, player, mover, pops) : 0;
    sort_actions(pops, count);
    for (int i = 0; i < count && i < popouts; i++) {
        double gain = pops[i].gain;
        f[gain < 0 ? (i ? DEBT : WORST) : i < 2 ? BEST + i : OTHERS] += gain;
    }
    return count;
}

static double clipped(double value, double limit) { return fmax(-limit, fmin(limit, value)); }

/* What the features and the network count. Keeps the other player's pop-outs in `replies`. */
static void inputs_of(Engine *e, const Position *p, double correction, double *f) {
    int last_moves = p->mover == e->last_mover, last_hand = last_moves ? p->own : p->other;
    double sign = last_moves ? 1 : -1;
    Action pops[SIDE];
    memset(f, 0, sizeof(double) * INPUTS);
    side_features(p, e->player, p->mover, p->own, pops, last_moves ? f : f + SIDE_FEATURES);
    e->reply_count =
        side_features(p, e->player, 3 - p->mover, p->other, e->replies, last_moves ? f + SIDE_FEATURES : f);
    if (!p->own || !p->other) {
        Coins coins = coins_of(p);
        int holder = !p->own && !p->other ? PRIZE_NONE : (p->own > 0) == last_moves ? PRIZE_LAST : PRIZE_OTHER;
        f[holder] = sign * coins.prize, f[REST] = sign * coins.rest;
        f[COIN] = coins.best[0], f[SECOND_COIN] = coins.best[1];
        f[TURN_PRIZE] = last_moves ? coins.prize : 0;
    }
    if (p->drop_count) f[DROP] = p->drops[0].gain;
    if (p->drop_count > 1) f[SECOND_DROP] = p->drops[1].gain;
    f[ONE] = 1;
    f[HAND_LAST] = fmin(last_hand, POPOUTS), f[HAND_OTHER] = fmin(p->own + p->other - last_hand, POPOUTS);
    f[EMPTY] = (double)empty_cells(p) / shape.cells, f[LATENESS] = e->late, f[LAST_MOVES] = last_moves;
    f[BOARD_CELLS] = shape.cells, f[BOARD_COLUMNS] = shape.columns;
    f[THIRD_DROP] = p->drop_count > 2 ? p->drops[2].gain : 0;
    f[FOURTH_DROP] = p->drop_count > 3 ? p->drops[3].gain : 0;
    f[DROPS] = p->drop_count;
    f[TOTAL] = sign * clipped(p->total, MOST_TOTAL);
    f[CORRECTION] = sign * clipped(correction, MOST_CORRECTION);
    f[IN_HAND] = sign * in_hand(e, p->mover, p->own, p->other);
}

/* What the network adds for the last mover. */
static double network(const Weights *weights, int set, const double *f) {
    const double (*w)[HIDDEN] = weights->network[set], *output = weights->output[set];
    double hidden[HIDDEN] = {0}, sum = output[HIDDEN];
    for (int i = 0; i < INPUTS; i++)
        for (int j = 0; j < HIDDEN; j++) hidden[j] += f[i] * w[i][j];
    for (int j = 0; j < HIDDEN; j++) sum += fmax(hidden[j], 0) * output[j];
    return sum;
}

static int set_of(const Engine *e, const Position *p) { return e->phase + (p->own || p->other ? 0 : PHASES); }

/* What the windows add for the mover. */
static double correction_of(const Engine *e, const Position *p) {
    const double (*corrections)[81] = e->corrections[set_of(e, p)];
    double sum = 0;
    for (int i = 0; i < shape.windows; i++) sum += corrections[i][p->windows[i]];
    return p->mover == ME ? sum : -sum;
}

/* What counts for the mover beside expected margins and pop-outs in hand. */
static double beside(Engine *e, const Position *p) {
    double f[INPUTS], sum = 0, worth = correction_of(e, p);
    int last_moves = p->mover == e->last_mover, set = set_of(e, p);
    const double (*w)[FEATURES] = e->weights.feature[set][last_moves];
    inputs_of(e, p, worth, f);
    for (int i = 0; i < FEATURES; i++) sum += (w[0][i] + e->late * w[1][i]) * f[i];
    sum = rint((sum + network(&e->weights, set, f)) * 1024) / 1024; /* as the agent rounds it */
    return worth + (last_moves ? sum : -sum);
}

static int swapped(int code) {
    int result = 0;
    for (int i = 0; i < 4; i++, code /= 3) result += (3 - code % 3) % 3 * power3[i];
    return result;
}

static void prepare(Engine *e, const State *state) {
    int empty = 0, popouts = state->popouts[1] + state->popouts[2];
    for (int cell = 0; cell < shape.cells; cell++) empty += !state->cells[cell];
    int left = empty + 2 * popouts, me_last = (left % 2 == 1) == (state->mover == e->player);
    e->last_mover = me_last ? ME : OPPONENT;
    e->phase = phase_of(empty);
    if (e->corrected == e->last_mover) return;
    e->corrected = e->last_mover;
    for (int set = 0; set < SETS; set++)
        for (int i = 0; i < shape.windows; i++) {
            int last = me_last ? e->player : 3 - e->player;
            int height = shape.window[i].height % 2, poppable = shape.window[i].column % 2 == last - 1;
            const double *table = e->weights.window[set][shape.window[i].kind][height][poppable];
            for (int code = 0; code < 81; code++)
                e->corrections[set][i][code] = me_last ? table[code] : -table[swapped(code)];
        }
}

/* -- The search: see `AlphaBeta` in ai.py */

static double search(Engine *e, const Position *p, int depth, double alpha, double beta);

static double pop_frontier(Engine *e, const Position *p, double alpha, double tempo) {
    double best = -INFINITY;
    double total = p->total + in_hand(e, p->mover, p->own - 1, p->other) - in_hand(e, p->mover, p->own, p->other);
    for (int i = 0; i < e->reply_count; i++) {
        Action item = e->replies[i];
        if (total + item.gain + MARGIN <= fmax(alpha, best)) return fmax(best, total + item.gain);
        item.gain = pop_gain(p->codes, ~item.action, p->mover);
        double value = total + item.gain;
        if (value > fmax(alpha, best)) {
            Position child;
            play(p, item, &child);
            value -= tempo * child.drops[0].gain;
        }
        best = fmax(best, value);
    }
    return best;
}

/* Where no reply matters any more, the agent still counts the first one: its bound is closer. */
static double frontier(Engine *e, const Position *p, double alpha, double beta, double tempo) {
    double best = -INFINITY;
    for (int i = 0; i < p->drop_count; i++) {
        int cell = p->drops[i].action, above = cell + shape.columns, j = 0;
        double value = p->total + p->drops[i].gain, enough = (value - alpha) / tempo, reply = 0;
        for (; j < p->drop_count && reply < enough; j++) {
            if (j == i) continue;
            double gain = p->drops[j].gain;
            if (shape.shared[cell][p->drops[j].action].line >= 0)
                gain += gain_change(p->codes, cell, p->drops[j].action, p->mover);
            reply = fmax(reply, gain);
        }
        if (reply < enough && above < shape.cells)
            reply = fmax(reply, gain_of(p->codes, above) + gain_change(p->codes, cell, above, p->mover));
        value -= tempo * reply;
        if (value > best) {
            best = value;
            alpha = fmax(alpha, value);
            if (value >= beta) return best;
        }
    }
    if (p->own) best = fmax(best, pop_frontier(e, p, fmax(alpha, best), tempo));
    return best > -INFINITY ? best : p->total;
}

static double leaf(Engine *e, const Position *p, double alpha, double beta) {
    double more = e->beside + (p->own || p->other ? in_hand(e, p->mover, p->own, p->other) : 0);
    return frontier(e, p, alpha - more, beta - more, TEMPO) + more;
}

static double look(Engine *e, const Position *child, int depth, int index, double alpha, double beta) {
    if (index) {
        int less = 0;
        if (index > 2 && depth > 3 && !e->solved) less = index > 5 && depth > 5 ? 2 : 1;
        double value = -search(e, child, depth - 1 - less, -alpha - CLOSE, -alpha);
        if (less && value > alpha) value = -search(e, child, depth - 1, -alpha - CLOSE, -alpha);
        if (!(alpha < value && value < beta)) return value;
    }
    return -search(e, child, depth - 1, -beta, -alpha);
}

/* Whether a search two plies less deep is so far outside the null window that the search need not
   go on; `bound` becomes the bound that it proves, most likely. */
static int sounded(Engine *e, const Position *p, int depth, double alpha, double beta, const Entry *entry, uint64_t slot, double *bound) {
    for (int again = 0;; again++) {
        if (entry->slot == slot && entry->depth >= depth - 2) {
            if (entry->bound >= 0 && entry->value - MARGIN >= beta) return *bound = entry->value - MARGIN, 1;
            if (entry->bound <= 0 && entry->value + MARGIN <= alpha) return *bound = entry->value + MARGIN, 1;
        }
        if (again || depth <= CUT_DEPTH || e->sounding) return 0;
        e->sounding = 1;
        if (search(e, p, depth - 2, beta + MARGIN - CLOSE, beta + MARGIN) < beta + MARGIN)
            search(e, p, depth - 2, alpha - MARGIN, alpha - MARGIN + CLOSE);
        e->sounding = 0;
    }
}

static void spend(Engine *e) {
    if (++e->nodes > e->limit) longjmp(e->spent, 1);
}

/* Leave out the pop-outs that miss `alpha` by more than MARGIN, but never the first action. Returns how
   many are left; `best` becomes what the best pop-out left out may be worth. */
static int promising(const Engine *e, const Position *p, Action *actions, int count, double alpha, double *best) {
    double now = p->total - e->beside + in_hand(e, p->mover, p->own - 1, p->other) + MARGIN;
    int kept = 1;
    for (int i = 1; i < count; i++)
        if (actions[i].action >= 0 || actions[i].gain > alpha - now) actions[kept++] = actions[i];
        else *best = fmax(*best, fmin(alpha, now + actions[i].gain));
    return kept;
}

/* The mover's value judged by gains alone: the best action, less a share of the best drop beside it. */
static double estimate(const Engine *e, const Position *p, const Action *actions, int count) {
    double in_now = in_hand(e, p->mover, p->own, p->other), best = -INFINITY;
    double drop = p->drop_count ? p->drops[0].gain : 0;
    if (p->drop_count) best = drop - TEMPO * (p->drop_count > 1 ? p->drops[1].gain : 0);
    for (int i = 0; i < count; i++)
        if (actions[i].action < 0) {
            double lost = in_hand(e, p->mover, p->own - 1, p->other) - in_now;
            best = fmax(best, actions[i].gain + lost - TEMPO * drop);
            break;
        }
    return p->total + best - e->beside + (p->own || p->other ? in_now : 0);
}

static double search(Engine *e, const Position *p, int depth, double alpha, double beta) {
    spend(e);
    Action actions[ACTIONS];
    double best = -INFINITY, share = 0, quick = 0;
    if (depth == 1 && !e->solved && (p->drop_count || actions_of(p, e->player, actions)))
        return leaf(e, p, alpha, beta);
    if (depth == 2 && e->solved && !p->own && !p->other) return frontier(e, p, alpha, beta, 1);
    if (depth == 2 && !e->solved && ends_soon(p)) {
        e->solved = 1;
        best = search(e, p, plies_left(p), alpha, beta);
        e->solved = 0;
        return best;
    }
    uint64_t slot = p->key ^ (uint64_t)p->own * 0x9E3779B97F4A7C1ULL ^ (uint64_t)p->other * 0xD1B54A32D192ED0ULL;
    Entry *entry = &e->known[slot % TABLE_SIZE];
    int found = entry->slot == slot, favourite = entry->action;
    if (found && entry->depth >= depth &&
        (!entry->bound || (entry->bound > 0 ? entry->value >= beta : entry->value <= alpha)))
        return entry->value;
    if (depth >= CUT_DEPTH && !e->solved && beta - alpha < 2 * CLOSE && sounded(e, p, depth, alpha, beta, entry, slot, &best))
        return best;
    found = entry->slot == slot, favourite = entry->action;
    int count = actions_of(p, e->player, actions);
    if (!count || !depth) return p->total;
    if (depth == 2 && !e->solved) { /* nearly the same after one move */
        note_phase(e, p);
        e->beside = -beside(e, p);
        share = BLEND, quick = estimate(e, p, actions, count);
        alpha = (alpha - share * quick) / (1 - share), beta = (beta - share * quick) / (1 - share);
        if (p->own) count = promising(e, p, actions, count, alpha, &best);
    }
    for (int i = 1; found && i < count; i++)
        if (actions[i].action == favourite) {
            Action first = actions[i];
            memmove(actions + 1, actions, sizeof(Action) * i);
            actions[0] = first;
        }
    double floor = alpha;
    int best_action = actions[0].action;
    for (int i = 0; i < count; i++) {
        Position child;
        play(p, actions[i], &child);
        double value = look(e, &child, depth, i, alpha, beta);
        if (value > best) {
            best = value, best_action = actions[i].action;
            alpha = fmax(alpha, value);
            if (value >= beta) break;
        }
    }
    int bound = best >= beta ? 1 : best <= floor ? -1 : 0;
    best = (1 - share) * best + share * quick;
    *entry = (Entry){slot, depth, bound, best_action, best};
    return best;
}

/* The same as `look` for the first action, beginning with a window around the value found before. */
static double near(Engine *e, const Position *child, int depth) {
    double low = e->value - NEAR, high = e->value + NEAR;
    double value = look(e, child, depth, 0, low, high);
    if (value <= low) return look(e, child, depth, 0, -INFINITY, value + CLOSE);
    if (value >= high) return look(e, child, depth, 0, value - CLOSE, INFINITY);
    return value;
}

static int choose(Engine *e, const State *state, long nodes) {
    Position root, child;
    static Action actions[ACTIONS];
    static double means[ACTIONS]; /* of the values found, by action; the first two depths set them */
    static volatile int depth;
    prepare(e, state);
    read_position(e, state, &root);
    int count = actions_of(&root, e->player, actions);
    e->reply_count = root.other ? pop_outs(&root, e->player, 3 - root.mover, e->replies) : 0;
    sort_actions(e->replies, e->reply_count);
    int left = plies_left(&root);
    int end = left - (root.own || root.other ? 2 : 8);
    e->nodes = 0, e->limit = nodes, e->beside = e->late = 0, e->sounding = 0, e->depth = 0, e->value = root.total;
    if (setjmp(e->spent)) {
        e->solved = 0;
        return actions[0].action;
    }
    for (depth = 1; depth < end || depth == 1 || depth <= left; depth++) {
        if (depth >= end) depth = left;
        e->solved = depth == left;
        double best = -INFINITY, found = 0, rival = e->solved ? 0 : RIVAL, age = e->solved || depth < 3 ? 0 : AGE;
        for (int i = 0; i < count; i++) {
            Action item = actions[i];
            play(&root, item, &child);
            double alpha = (best - age * means[i]) / (1 - age) - rival;
            double value = i || e->depth < 2 ? look(e, &child, depth, i, alpha, INFINITY) : near(e, &child, depth);
            double mean = means[i] = age * means[i] + (1 - age) * value;
            if (mean > best) {
                best = mean, found = value;
                memmove(actions + 1, actions, sizeof(Action) * i);
                memmove(means + 1, means, sizeof(double) * i);
                actions[0] = item, means[0] = mean;
            }
        }
        e->depth = depth, e->value = found;
    }
    return actions[0].action;
}

/* The value of a search of two plies, for the mover. */
static double two_plies(Engine *e, const Position *p) {
    e->nodes = 0, e->limit = LONG_MAX, e->solved = e->sounding = 0;
    return search(e, p, 2, -INFINITY, INFINITY);
}

/* -- Games */

static int legal_actions(const State *s, int *actions) {
    int count = 0;
    for (int column = 0; column < shape.columns; column++)
        for (int cell = column; cell < shape.cells; cell += shape.columns)
            if (!s->cells[cell]) { actions[count++] = cell; break; }
    for (int column = s->mover - 1; column < shape.columns && s->popouts[s->mover]; column += 2)
        if (s->cells[column]) actions[count++] = ~column;
    return count;
}

static void apply(State *s, int action) {
    if (action >= 0) s->cells[action] = (unsigned char)s->mover;
    else {
        int cell = ~action;
        for (; cell + shape.columns < shape.cells; cell += shape.columns)
            s->cells[cell] = s->cells[cell + shape.columns];
        s->cells[cell] = 0;
        s->popouts[s->mover]--;
    }
    s->mover = 3 - s->mover;
}

static double margin_of(const State *s, int player) {
    double total = 0;
    for (int line = 0; line < shape.lines; line++) {
        int code = 0;
        for (int cell = 0; cell < shape.cells; cell++)
            for (int kind = 0; kind < KINDS; kind++)
                if (shape.crossing[cell][kind].line == line && s->cells[cell])
                    code += shape.crossing[cell][kind].weight * (s->cells[cell] == player ? ME : OPPONENT);
        total += tables[shape.length[line]][code];
    }
    return total;
}

static void print_action(int action) {
    if (action >= 0) printf(" %d", action % shape.columns);
    else printf(" %dP", ~action);
}

static void print_state(const State *s) {
    printf("%d %d %d %d %d ", shape.rows, shape.columns, s->popouts[1], s->popouts[2], s->mover);
    for (int cell = 0; cell < shape.cells; cell++) putchar('0' + s->cells[cell]);
}

static State start_on(const char *board) {
    int rows, columns, popouts = 0;
    if (sscanf(board, "%dx%d+%d", &rows, &columns, &popouts) < 2 || rows > SIDE || columns > SIDE) {
        fprintf(stderr, "%s is not a board of at most %dx%d\n", board, SIDE, SIDE);
        exit(2);
    }
    if (rows != shape.rows || columns != shape.columns) make_shape(rows, columns);
    State state = {.popouts = {0, popouts, popouts}, .mover = 1};
    return state;
}

static void play_randomly(State *s, int plies) {
    int actions[ACTIONS], count;
    while (plies-- && (count = legal_actions(s, actions))) apply(s, actions[random_below(count)]);
}

static void make_engine(Engine *e, const char *weights) {
    memset(e, 0, sizeof *e);
    read_weights(&e->weights, weights);
    e->known = malloc(sizeof(Entry) * TABLE_SIZE);
}

static void seat(Engine *e, int player) {
    e->player = player, e->corrected = 0;
    memset(e->known, 255, sizeof(Entry) * TABLE_SIZE);
}

static void print_probe(Engine *e, const State *state, long nodes) {
    Position p;
    double f[INPUTS];
    prepare(e, state);
    read_position(e, state, &p);
    if (ends_soon(&p)) return; /* the agent never evaluates it */
    double quick = two_plies(e, &p);
    choose(e, state, nodes);
    print_state(state);
    note_phase(e, &p);
    inputs_of(e, &p, correction_of(e, &p), f);
    printf(" %.4f %.4f %.4f", quick, e->value, e->late);
    for (int i = 0; i < INPUTS; i++) printf(" %.4g", f[i]);
    putchar('\n');
}

/* Play quick games, and from each of their positions some random plies. Print where those end as
   `position value-of-two-plies value lateness input...`: the values for the mover, of a search of
   two plies and of one with NODES_PROBE. */
static void probes(int argc, char **argv) {
    static Engine engines[3], probing[3];
    int actions[ACTIONS], count = atoi(argv[1]);
    for (int player = 1; player <= 2; player++) {
        make_engine(&engines[player], argv[4]);
        make_engine(&probing[player], argv[4]);
    }
    for (int game = 0; game < count; game++) {
        State state = start_on(argv[5 + game % (argc - 5)]);
        for (int player = 1; player <= 2; player++) seat(&engines[player], player), seat(&probing[player], player);
        play_randomly(&state, 2 + random_below(shape.cells / OPENING_SHARE));
        while (legal_actions(&state, actions)) {
            State astray = state;
            play_randomly(&astray, 1 + random_below(ASTRAY));
            if (legal_actions(&astray, actions))
                print_probe(&probing[astray.mover], &astray, atol(argv[3]));
            apply(&state, choose(&engines[state.mover], &state, atol(argv[2])));
        }
    }
}

/* Print random games as `BOARD ACTION... margin of player 1`. */
static void playouts(int argc, char **argv) {
    int actions[ACTIONS], count;
    for (int game = 0; game < atoi(argv[1]); game++) {
        State state = start_on(argv[2 + game % (argc - 2)]);
        printf("%s", argv[2 + game % (argc - 2)]);
        while ((count = legal_actions(&state, actions))) {
            int action = actions[random_below(count)];
            print_action(action);
            apply(&state, action);
        }
        printf(" %.0f\n", margin_of(&state, 1));
    }
}

/* Print for each position on standard input its expected margin, what counts beside it before the
   last ply, the worth of the pop-outs in hand and the action that NODES nodes find, with the value found. */
static void judge(int argc, char **argv) {
    static Engine e;
    make_engine(&e, argv[1]);
    int rows, columns;
    (void)argc;
    State s;
    memset(&s, 0, sizeof s);
    char cells[CELLS + 1], board[32];
    while (scanf("%d %d %d %d %d %144s%*[^\n]", &rows, &columns, &s.popouts[1], &s.popouts[2], &s.mover, cells) == 6) {
        snprintf(board, sizeof board, "%dx%d", rows, columns);
        start_on(board);
        for (int cell = 0; cell < shape.cells; cell++) s.cells[cell] = (unsigned char)(cells[cell] - '0');
        seat(&e, s.mover);
        Position p;
        prepare(&e, &s);
        read_position(&e, &s, &p);
        note_phase(&e, &p);
        printf("%.6f %.6f %.6f", p.total, beside(&e, &p), in_hand(&e, p.mover, p.own, p.other));
        int action = choose(&e, &s, atol(argv[0]));
        printf(" %.6f %d", e.value, e.depth);
        print_action(action);
        printf("\n");
    }
}

int main(int argc, char **argv) {
    struct { const char *name; void (*run)(int, char **); int fewest; } modes[] = {
        {"probes", probes, 6}, {"playouts", playouts, 3}, {"judge", judge, 2},
    };
    fill_tables();
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (argc > 2 && !strcmp(argv[1], modes[i].name) && argc - 2 >= modes[i].fewest) {
            seed_random(strtoull(argv[2], NULL, 10));
            modes[i].run(argc - 2, argv + 2);
            return 0;
        }
    fprintf(stderr, "usage: see the first lines of selfplay.c\n");
    return 2;
}
