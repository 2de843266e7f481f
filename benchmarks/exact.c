/* Solve positions of ExtendedConnect4 exactly: the margin that every legal move keeps.

   cc -O2 -o exact benchmarks/exact.c
   exact solve NODES      reads positions, writes the values of their moves
   exact expect NODES     the same against an opponent that plays at random: expected margins
   exact depth PLIES LEAF     writes what searches of 1 to PLIES plies say of the moves
   exact chance PLIES LEAF    the same against an opponent that plays at random

   A position is one line of words: ROWS COLUMNS POPOUTS1 POPOUTS2 MOVER STACKS. STACKS has the
   tokens of every column from the bottom up, columns apart by `/`: `12//1/` are four columns.
   `solve` and `expect` write one line for each: the nodes visited, then the mover's final margin
   after each legal move, drops first, as the kit orders them. They write `unsolved` instead once
   they have visited NODES positions. Each position begins with an empty table, so that a run
   repeats. `depth` and `chance` write a word for each number of plies: the mover's values, apart by
   commas. LEAF is how such a search values a board: 0 the margin now, 1 the mean of all fillings.

   How. A line is a row, a column or a diagonal. Its code is its cells as ternary digits. A table
   has for each code the margin if player 1 takes every empty cell (`high`), if player 2 does
   (`low`), and the mean over all fillings (`mean`). Drops are tried by what they change the mean.
   Every move lowers the number of plies left by one, so the search always runs to the end:
   alpha-beta with a table of positions, called with windows of width one (MTD(f); Plaat et al.,
   "Best-first fixed-depth minimax algorithms", 1996).

   Without pop-outs left, tokens matter only by the runs that touch an empty cell, and a run only
   by its length modulo 4, because four more tokens are always worth 20 more points. Codes with the
   same such runs share a `class`, and differ by a constant. So positions of the same classes share
   one entry, which holds the value relative to `high`. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 12, LONGEST = 12, MOST_LINES = 70, MOST_CELLS = 144, INFINITE = 30000 };
enum { SCALE = 4096, TABLE_BITS = 23, BUCKET = 4, LINE_OF_INPUT = 4096 };

typedef struct { int32_t mean; int16_t high, low, now; uint64_t class; } Line;
typedef struct { uint64_t key; int16_t low, high; int8_t plies, move; } Entry;

/* Margins and sums are player 1's; `key` sums the classes of all lines, `exact` those of columns. */
typedef struct {
    int codes[MOST_LINES];
    int8_t height[MOST_COLUMNS];
    int popouts[2], mover, empty;
    int mean, high, low, now;
    uint64_t key, exact;
} State;

typedef struct { int order; int8_t move; } Move; /* a column, or ~column for a pop-out */

static Line *tables[LONGEST + 1];
static const int POWERS[] = {1, 3, 9, 27, 81, 243, 729, 2187, 6561, 19683, 59049, 177147, 531441};

static int rows, columns, cells, lines;
static int length_of[MOST_LINES];
static uint64_t factor[MOST_LINES];
static const Line *table_of[MOST_LINES];
static int crossing[MOST_CELLS][4], weight[MOST_CELLS][4]; /* the column's line is the last one */

static Entry *known;
static uint64_t nodes, most_nodes;

static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* -- Tables */

static int points(int run) {
    static const int worth[] = {0, 0, 2, 5};
    return worth[run % 4] + run / 4 * 20;
}

static int margin_of(const int *digits, int length) {
    int margin = 0, start = 0;
    for (int i = 1; i <= length; i++)
        if (i == length || digits[i] != digits[start]) {
            int worth = points(i - start);
            margin += digits[start] == 1 ? worth : digits[start] == 2 ? -worth : 0;
            start = i;
        }
    return margin;
}

/* Return a number for the empty cells of a line and the runs beside them, modulo 4. */
static uint64_t class_of(const int *digits, int length) {
    uint64_t class = 0;
    for (int start = 0, end; start < length; start = end) {
        end = start + 1;
        if (!digits[start]) {
            class = mixed(class * 31 + 7);
            continue;
        }
        while (end < length && digits[end]) end++;
        int head = 1, tail = 1;
        while (start + head < end && digits[start + head] == digits[start]) head++;
        while (tail < end - start && digits[end - 1 - tail] == digits[end - 1]) tail++;
        int joined = head == end - start && start > 0 && end < length;
        int first = start > 0 && (joined || head % 4) ? 4 * digits[start] + head % 4 : 0;
        int last = end < length && (joined || tail % 4) ? 4 * digits[end - 1] + tail % 4 : 0;
        class = mixed(class * 31 + 11 + (uint64_t)(first + 12 * last + 144 * joined));
    }
    return class;
}

static void make_table(int length) {
    if (tables[length]) return;
    Line *table = tables[length] = malloc(sizeof(Line) * (size_t)POWERS[length]);
    int digits[LONGEST];
    for (int code = POWERS[length] - 1; code >= 0; code--) { /* fuller lines have higher codes */
        int empty = -1;
        for (int i = 0; i < length; i++) {
            digits[i] = code / POWERS[i] % 3;
            if (!digits[i]) empty = i;
        }
        table[code].class = class_of(digits, length);
        table[code].now = (int16_t)margin_of(digits, length);
        if (empty < 0) {
            int margin = margin_of(digits, length);
            table[code].mean = margin * SCALE;
            table[code].high = table[code].low = (int16_t)margin;
            continue;
        }
        const Line *one = &table[code + POWERS[empty]], *two = &table[code + 2 * POWERS[empty]];
        table[code].mean = (one->mean + two->mean) / 2;
        table[code].high = one->high;
        table[code].low = two->low;
    }
}

static void add_line(int row, int column, int up, int right) {
    int length = 0;
    for (; row >= 0 && row < rows && column < columns; row += up, column += right, length++) {
        int cell = row * columns + column;
        int which = !right ? 3 : up + 1;
        crossing[cell][which] = lines;
        weight[cell][which] = POWERS[length];
    }
    make_table(length);
    length_of[lines] = length;
    factor[lines] = mixed((uint64_t)lines + 1) | 1;
    lines++;
}

static void make_board(int new_rows, int new_columns) {
    if (new_rows == rows && new_columns == columns) return;
    rows = new_rows, columns = new_columns, cells = rows * columns, lines = 0;
    for (int row = 0; row < rows; row++) add_line(row, 0, 0, 1);
    for (int row = 0; row < rows; row++) {
        add_line(row, 0, 1, 1);
        add_line(row, 0, -1, 1);
    }
    for (int column = 1; column < columns; column++) {
        add_line(0, column, 1, 1);
        add_line(rows - 1, column, -1, 1);
    }
    for (int column = 0; column < columns; column++) add_line(0, column, 1, 0);
    for (int line = 0; line < lines; line++) table_of[line] = tables[length_of[line]];
}

/* -- The rules */

static void change(State *state, int line, int by) {
    const Line *old = &table_of[line][state->codes[line]], *new = old + by;
    state->codes[line] += by;
    state->mean += new->mean - old->mean;
    state->high += new->high - old->high;
    state->low += new->low - old->low;
    state->now += new->now - old->now;
    state->key += (new->class - old->class) * factor[line];
}

static uint64_t exact_code(int column, int code) {
    return mixed((uint64_t)code * MOST_COLUMNS + (uint64_t)column + 1);
}

static void count_column(State *state, int column, int code) {
    int old = state->codes[lines - columns + column];
    state->exact += exact_code(column, code) - exact_code(column, old);
}

static void drop(State *state, int column, int token) {
    int cell = state->height[column]++ * columns + column;
    if (state->popouts[0] || state->popouts[1]) {
        int line = lines - columns + column;
        count_column(state, column, state->codes[line] + token * weight[cell][3]);
    }
    for (int i = 0; i < 4; i++) change(state, crossing[cell][i], token * weight[cell][i]);
    state->empty--;
}

static void pop(State *state, int column) {
    int line = lines - columns + column, code = state->codes[line];
    count_column(state, column, code / 3);
    change(state, line, code / 3 - code);
    for (int cell = column; code; cell += columns, code /= 3)
        for (int i = 0; i < 3; i++)
            if (code / 3 % 3 != code % 3)
                change(state, crossing[cell][i], (code / 3 % 3 - code % 3) * weight[cell][i]);
    state->height[column]--;
    state->empty++;
}

static void play(State *state, int move) {
    if (move >= 0) {
        drop(state, move, state->mover + 1);
    } else {
        pop(state, ~move);
        state->popouts[state->mover]--;
    }
    state->mover = 1 - state->mover;
}

static int legal_moves(const State *state, Move *moves) {
    int count = 0;
    for (int column = 0; column < columns; column++)
        if (state->height[column] < rows) moves[count++].move = (int8_t)column;
    if (state->popouts[state->mover])
        for (int column = state->mover; column < columns; column += 2)
            if (state->height[column]) moves[count++].move = (int8_t)~column;
    return count;
}

static int plies_left(const State *state) {
    return state->empty + 2 * (state->popouts[0] + state->popouts[1]);
}

/* -- The search */

static int gain_of_drop(const State *state, int column) {
    int cell = state->height[column] * columns + column, gain = 0, token = state->mover + 1;
    for (int i = 0; i < 4; i++) {
        const Line *line = &table_of[crossing[cell][i]][state->codes[crossing[cell][i]]];
        gain += line[token * weight[cell][i]].mean - line->mean;
    }
    return state->mover ? -gain : gain;
}

static int gain_of_pop(const State *state, int column) {
    State after = *state;
    pop(&after, column);
    return state->mover ? state->mean - after.mean : after.mean - state->mean;
}

static int gain_of(const State *state, int move) {
    return move >= 0 ? gain_of_drop(state, move) : gain_of_pop(state, ~move) - SCALE;
}

static int base_of(const State *state) {
    if (state->popouts[0] || state->popouts[1]) return 0;
    return state->mover ? -state->low : state->high;
}

static uint64_t key_of(const State *state) {
    int rest = state->popouts[0] * 64 + state->popouts[1] * 2 + state->mover;
    uint64_t salt = mixed((uint64_t)rest + 1);
    int with_popouts = state->popouts[0] || state->popouts[1];
    return mixed((with_popouts ? state->exact : state->key) + salt) | 1;
}

static Entry *bucket_of(uint64_t key) {
    return &known[(key >> (64 - TABLE_BITS)) / BUCKET * BUCKET];
}

static const Entry *find(uint64_t key) {
    const Entry *bucket = bucket_of(key);
    for (int i = 0; i < BUCKET; i++)
        if (bucket[i].key == key) return &bucket[i];
    return NULL;
}

/* Return the entry of a key, where it has none one in place of the entry with fewest plies. */
static Entry *slot_of(uint64_t key, int plies) {
    Entry *bucket = bucket_of(key), *victim = bucket;
    for (int i = 0; i < BUCKET; i++) {
        if (bucket[i].key == key) return &bucket[i];
        if (bucket[i].plies < victim->plies) victim = &bucket[i];
    }
    if (victim->plies > plies) victim = &bucket[key >> 8 & (BUCKET - 1)];
    *victim = (Entry){key, -INFINITE, INFINITE, (int8_t)plies, INT8_MIN};
    return victim;
}

static int search(const State *state, int beta);

/* Order the moves by their gains, the favourite first. */
static void order_by_gain(const State *state, Move *moves, int count, int favourite) {
    for (int i = 0; i < count; i++) {
        Move next = moves[i];
        next.order = next.move == favourite ? INT32_MAX : gain_of(state, next.move);
        int place = i;
        for (; place && moves[place - 1].order < next.order; place--)
            moves[place] = moves[place - 1];
        moves[place] = next;
    }
}

/* Return the value of the first move that is worth `beta`, else the greatest of all. */
static int search_moves(const State *state, int beta, const Move *moves, int count,
                        int *best_move) {
    int best = -INFINITE;
    for (int i = 0; i < count && best < beta; i++) {
        State child = *state;
        play(&child, moves[i].move);
        int value = -search(&child, 1 - beta);
        if (value > best) best = value, *best_move = moves[i].move;
    }
    return best;
}

/* Return a bound of the mover's final margin: at least it where it is >= beta, else at most it. */
static int search(const State *state, int beta) {
    if (++nodes > most_nodes) return 0;
    int high = state->mover ? -state->low : state->high;
    int low = state->mover ? -state->high : state->low;
    if (!state->popouts[0] && !state->popouts[1]) {
        if (high < beta || state->empty <= 1) return high;
        if (low >= beta) return low;
    }
    Move moves[2 * MOST_COLUMNS];
    int plies = plies_left(state), base = base_of(state), favourite = INT8_MIN, best_move = 0;
    int count = legal_moves(state, moves);
    if (!count) return high; /* the board is full: `high` and `low` are the margin */
    if (plies <= 2) {
        order_by_gain(state, moves, count, favourite);
        return search_moves(state, beta, moves, count, &best_move);
    }
    uint64_t key = key_of(state);
    const Entry *seen = find(key);
    if (seen) {
        if (seen->low > -INFINITE && seen->low + base >= beta) return seen->low + base;
        if (seen->high < INFINITE && seen->high + base < beta) return seen->high + base;
        favourite = seen->move;
    }
    order_by_gain(state, moves, count, favourite);
    int best = search_moves(state, beta, moves, count, &best_move);
    if (nodes > most_nodes) return 0;
    Entry *entry = slot_of(key, plies);
    if (best >= beta) entry->low = (int16_t)(best - base), entry->move = (int8_t)best_move;
    else entry->high = (int16_t)(best - base);
    return best;
}

static int exact_value(const State *state, int guess) {
    int low = -INFINITE, high = INFINITE;
    while (low < high && nodes <= most_nodes) {
        int beta = guess == low ? guess + 1 : guess;
        guess = search(state, beta);
        if (guess < beta) high = guess;
        else low = guess;
    }
    return low;
}

/* -- Input and output */

/* Read a line into `state`; return 0 at the end of the input. */
static int read_state(State *state) {
    static char text[LINE_OF_INPUT];
    int new_rows, new_columns, popouts, other, mover, used = 0, column = 0;
    if (!fgets(text, sizeof text, stdin)) return 0;
    int found = sscanf(text, "%d %d %d %d %d %n", &new_rows, &new_columns, &popouts, &other,
                       &mover, &used);
    if (found != 5 || !used || new_rows < 1 || new_rows > LONGEST || new_columns < 1 ||
        new_columns > MOST_COLUMNS || mover < 1 || mover > 2) {
        fprintf(stderr, "exact: this is not a position: %s", text);
        exit(2);
    }
    make_board(new_rows, new_columns);
    memset(state, 0, sizeof *state);
    state->empty = cells;
    for (int line = 0; line < lines; line++) {
        const Line *start = table_of[line];
        state->mean += start->mean, state->high += start->high, state->low += start->low;
        state->now += start->now;
        state->key += start->class * factor[line];
    }
    for (int i = 0; i < columns; i++) state->exact += exact_code(i, 0);
    state->popouts[0] = 1; /* so that `drop` counts the columns */
    for (const char *at = text + used; *at > ' '; at++) {
        if (*at == '/') column++;
        else if (column < columns && state->height[column] < rows) drop(state, column, *at - '0');
    }
    state->popouts[0] = popouts, state->popouts[1] = other, state->mover = mover - 1;
    return 1;
}

static void solve(void) {
    State state;
    Move moves[2 * MOST_COLUMNS];
    while (read_state(&state)) {
        int values[2 * MOST_COLUMNS], count = legal_moves(&state, moves);
        known = calloc((size_t)1 << TABLE_BITS, sizeof(Entry));
        if (!known) {
            fprintf(stderr, "exact: out of memory\n");
            exit(1);
        }
        nodes = 0;
        for (int i = 0; i < count && nodes <= most_nodes; i++) {
            State child = state;
            play(&child, moves[i].move);
            values[i] = -exact_value(&child, (child.mover ? -child.mean : child.mean) / SCALE);
        }
        printf("%llu", (unsigned long long)nodes);
        if (nodes > most_nodes) printf(" unsolved");
        else
            for (int i = 0; i < count; i++) printf(" %d", values[i]);
        printf("\n");
        fflush(stdout);
        free(known);
    }
}

/* -- Expectation against an opponent that plays at random */

typedef struct { uint64_t key; double value; } Mean;
static Mean *means;
enum { MEAN_BITS = 23 };

/* Return player 1's expected final margin: `me` plays best, the other one at random. */
static double expected(const State *state, int me) {
    if (++nodes > most_nodes) return 0;
    Move moves[2 * MOST_COLUMNS];
    int without = !state->popouts[0] && !state->popouts[1];
    if (without && state->empty <= 1) return state->mover ? state->low : state->high;
    int count = legal_moves(state, moves);
    if (!count) return state->now; /* the board may be full with pop-outs of the other left */
    double base = without ? state->high : 0;
    uint64_t key = key_of(state);
    Mean *slot = &means[key >> (64 - MEAN_BITS)];
    for (int i = 0; i < 4; i++) {
        Mean *next = &means[((key >> (64 - MEAN_BITS)) + (uint64_t)i) & ((1u << MEAN_BITS) - 1)];
        if (next->key == key) return next->value + base;
        if (!next->key) { slot = next; break; }
    }
    double sum = 0, best = me ? 1e9 : -1e9;
    for (int i = 0; i < count; i++) {
        State child = *state;
        play(&child, moves[i].move);
        double value = expected(&child, me);
        sum += value;
        if (me ? value < best : value > best) best = value;
    }
    double value = state->mover == me ? best : sum / count;
    *slot = (Mean){key, value - base};
    return value;
}

static void expect(void) {
    State state;
    Move moves[2 * MOST_COLUMNS];
    while (read_state(&state)) {
        int count = legal_moves(&state, moves), me = state.mover;
        double values[2 * MOST_COLUMNS];
        means = calloc((size_t)1 << MEAN_BITS, sizeof(Mean));
        nodes = 0;
        for (int i = 0; i < count && nodes <= most_nodes; i++) {
            State child = state;
            play(&child, moves[i].move);
            values[i] = me ? -expected(&child, me) : expected(&child, me);
        }
        printf("%llu", (unsigned long long)nodes);
        if (nodes > most_nodes) printf(" unsolved");
        else for (int i = 0; i < count; i++) printf(" %.4f", values[i]);
        printf("\n");
        fflush(stdout);
        free(means);
    }
}

/* -- Values of a search to a depth: leaf 0 the margin now, 1 the mean of all fillings */

static double leaf_of(const State *state, int leaf) {
    double value = leaf ? (double)state->mean / SCALE : state->now;
    return state->mover ? -value : value;
}

static double to_depth(const State *state, int depth, double alpha, double beta, int leaf) {
    Move moves[2 * MOST_COLUMNS];
    int count = legal_moves(state, moves);
    nodes++;
    if (!count) return state->mover ? -state->now : state->now;
    if (!depth) return leaf_of(state, leaf);
    if (depth > 1) order_by_gain(state, moves, count, INT8_MIN);
    double best = -1e9;
    for (int i = 0; i < count && best < beta; i++) {
        State child = *state;
        play(&child, moves[i].move);
        double value = -to_depth(&child, depth - 1, -beta, -(alpha > best ? alpha : best), leaf);
        if (value > best) best = value;
    }
    return best;
}

/* The mover's expected value at a depth; `me` is best, the other one at random. */
static double mean_depth(const State *state, int depth, int me, int leaf) {
    Move moves[2 * MOST_COLUMNS];
    int count = legal_moves(state, moves);
    nodes++;
    if (!count) return me ? -state->now : state->now;
    if (!depth) { double v = leaf_of(state, leaf); return state->mover == me ? v : -v; }
    double best = -1e9, sum = 0;
    for (int i = 0; i < count; i++) {
        State child = *state;
        play(&child, moves[i].move);
        double value = mean_depth(&child, depth - 1, me, leaf);
        sum += value;
        if (value > best) best = value;
    }
    return state->mover == me ? best : sum / count;
}

static void depths(int deepest, int with_leaf, int chance) {
    State state;
    Move moves[2 * MOST_COLUMNS];
    while (read_state(&state)) {
        int count = legal_moves(&state, moves), me = state.mover;
        nodes = 0;
        for (int depth = 0; depth < deepest; depth++) {
            for (int i = 0; i < count; i++) {
                State child = state;
                play(&child, moves[i].move);
                double value = chance ? mean_depth(&child, depth, me, with_leaf)
                                      : -to_depth(&child, depth, -1e9, 1e9, with_leaf);
                printf("%s%.3f", i ? "," : "", value);
            }
            printf(" ");
        }
        printf("\n");
        fflush(stdout);
    }
}

int main(int count, char **words) {
    int depths_asked = count == 4 && (!strcmp(words[1], "depth") || !strcmp(words[1], "chance"));
    if (!depths_asked && (count != 3 || (strcmp(words[1], "solve") && strcmp(words[1], "expect")))) {
        fprintf(stderr, "usage: exact solve|expect NODES, or exact depth|chance PLIES LEAF\n");
        return 2;
    }
    most_nodes = strtoull(words[2], NULL, 10);
    if (!strcmp(words[1], "solve")) solve();
    else if (!strcmp(words[1], "expect")) expect();
    else depths(atoi(words[2]), atoi(words[3]), !strcmp(words[1], "chance"));
    return 0;
}
