/* The playground: passes the referee's events to the replay page, and its questions to the worker of
   the student's file. `workers.js` makes the workers. */

/**
 * @typedef {{name: string, title: string, size: [number, number] | null, starts: string[],
 *   agents: {kind: string, options: Record<string, string[]>}[]}} Rules
 * @typedef {{wrong?: string, player?: number, kind?: string, request?: any, anew?: boolean}} Step
 */

const MOST = 1 << 16; // characters of an answer
const PHONE = matchMedia("(max-width: 52rem)").matches;

/** @param {string} id @returns {HTMLInputElement} */
const field = (id) => /** @type {HTMLInputElement} */ (byId(`set-${id}`));

/** @returns {Rules} */
const rules = () => DATA.offer.find((/** @type {Rules} */ { name }) => name === field("game").value);

const playground = {
  referee: /** @type {PythonWorker} */ (/** @type {unknown} */ (null)),
  spare: /** @type {PythonWorker | null} */ (null),
  playing: /** @type {Promise<void> | null} */ (null),
  stopping: false,
  /** @type {PythonWorker | null} */
  thinking: null,
  /** @type {((text: string) => Promise<string>) | null} */
  typed: null,
  sources: /** @type {string[]} */ ([]), // of each game of the page

  /* Return a worker that has run no student's code. */
  async fresh() {
    const worker = this.spare ?? new PythonWorker("agent");
    this.spare = null;
    await worker.ready;
    return worker;
  },

  /* Have the next one ready. */
  prepare() {
    if (!PHONE) this.spare ??= new PythonWorker("agent");
  },

  /**
   * Ask the referee.
   * @param {string} kind
   * @param {any} data
   * @returns {Promise<any>}
   */
  async ask(kind, data) {
    const { answer } = await this.referee.ask(kind, data);
    if (answer === null) throw new Error(`The page must be loaded again: ${this.referee.failure}`);
    return JSON.parse(answer);
  },

  /**
   * Load a student's file; return its worker, and what it said.
   * @param {any} setup
   * @param {number} limit
   */
  async load(setup, limit) {
    const worker = this.thinking = await this.fresh();
    const { answer } = await worker.ask("load", { setup }, limit, MOST);
    const failed = worker.failure || `ai.py was not loaded within ${limit} s`;
    return { worker, answer: answer ?? JSON.stringify({ failed }) };
  },

  /* Play the game that is chosen. */
  async play() {
    const text = source.value;
    const plan = await this.ask("plan", { words: words(), source: text });
    if (plan.wrong) return plan.wrong;
    /** @type {Record<number, {worker: PythonWorker, answer: string} | null>} */
    const files = {};
    /** @type {Record<number, string>} */
    const loaded = {};
    for (const [player, setup] of Object.entries(plan.setups)) {
      const file = files[Number(player)] = await this.load(setup, plan.loading);
      loaded[Number(player)] = file.answer;
    }
    this.sources.push(text);
    /** @type {Step} */
    let step = await this.ask("play", { loaded });
    while (step.player && step.request) {
      const { player, kind, request } = step;
      if (this.stopping) step = await this.ask("move", { text: "q", seconds: 0 });
      else if (kind === "human") step = await this.person();
      else if (kind !== "ai") step = await this.ask("think", {});
      else {
        const again = !files[player];
        const file = files[player] ??= await this.load(plan.setups[player], plan.loading);
        this.thinking = file.worker;
        if (live.turn) live.turn.at = Date.now() / 1000; // the clock starts when the worker is ready
        const given = again && !isReady(file.answer)
          ? { answer: file.answer, seconds: 0, printed: "" }
          : await file.worker.ask("turn", request, request.seconds, MOST);
        if (this.stopping) continue;
        const ended = file.worker.failure ? JSON.stringify({ last: file.worker.failure }) : null;
        step = await this.ask("answer", { line: given.answer ?? ended, seconds: given.seconds, printed: given.printed });
        if (step.anew) {
          file.worker.end();
          files[player] = null;
          this.prepare();
        }
      }
    }
    for (const file of Object.values(files)) file?.worker.end();
    this.prepare();
    return "";
  },

  /* Wait for the move of the person at the page. */
  person() {
    const began = performance.now();
    return new Promise((resolve) => {
      const typed = async (/** @type {string} */ text) => {
        this.typed = null; // a second click is for no other turn
        const step = await this.ask("move", { text, seconds: (performance.now() - began) / 1000 });
        if (step.wrong) this.typed = typed;
        else resolve(step);
        return step.wrong ?? "";
      };
      this.typed = typed;
    });
  },

  async stop() {
    this.stopping = true;
    await this.typed?.("q");
    this.thinking?.end();
  },

  /* Show what `check` finds. */
  async check() {
    const given = Number(field("seconds").value);
    const seconds = given > 0 ? Math.min(given, 86400) : 2;
    const asked = await this.ask("check", { source: source.value, seconds });
    if (asked.wrong) return asked.wrong;
    const worker = this.thinking = await this.fresh();
    byId("stop").hidden = false;
    const { answer } = await worker.ask("check", asked, seconds + 5, MOST * 10);
    worker.end();
    this.prepare();
    if (this.stopping) return "check was stopped";
    const late = { line: 1, rule: "smoke", required: true, text: `${worker.progress}: ${worker.failure || `no answer within ${seconds} s; does it end?`}` };
    const found = answer ? JSON.parse(answer) : [late];
    byId("findings").replaceChildren(...found.map((/** @type {any} */ { line, rule, text, required }) => (
      make("li", "", makeButton(required ? "required" : "", () => editor.go(Number(line)),
        `Line ${line}: ${rule}${required ? "" : " (advice)"}: ${text}`))
    )));
    state(found.some((/** @type {any} */ { required }) => required) ? "check: this is to fix before you hand it in."
      : found.length ? "check: well formed. Advice:" : "check: well formed; it gives legal moves.");
    return "";
  },

  /**
   * Make the search tree of a turn, or the analysis of a game.
   * @param {{what: string, game: number, turn: number}} asked
   */
  async make({ what, game, turn }) {
    const record = live.records[game];
    if (what === "analysis") {
      const helper = new PythonWorker("referee");
      /** @type {[string, any][]} */
      const events = [];
      helper.event = (name, data) => (name === "making" ? say(data) : events.push([name, data]));
      const { answer } = await helper.ask("analyse", { record, seconds: .3 });
      helper.end();
      await this.playing;
      this.sources.push(this.sources[game]);
      for (const [name, data] of events) kinds[name](data);
      return answer === null ? "the analysis has ended without a result" : JSON.parse(answer).wrong ?? "";
    }
    const asked = { record, turn, source: this.sources[game] };
    let tree = await this.ask("tree", asked);
    if (tree.ask) {
      const worker = await this.fresh();
      const { answer } = await worker.ask("explain", tree.ask, tree.seconds + 30, MOST * 250);
      worker.end();
      this.prepare();
      if (answer === null) return `explain gave no answer within ${tree.seconds + 30} s`;
      tree = await this.ask("tree", { ...asked, answer });
    }
    if (tree.page) live.made(URL.createObjectURL(new Blob([tree.page], { type: "text/html" })));
    return tree.wrong ?? "";
  },
};

/** @param {string} answer */
const isReady = (answer) => answer.startsWith('{"ready"');

/** @param {string} path @param {any} data @returns {Promise<string>} what is wrong, or nothing */
async function post(path, data) {
  if (path === "make") return playground.make(data);
  if (path === "move") return playground.typed ? playground.typed(data.text) : "it is not your turn";
  return "";
}

/* The words of the game's command line. */
function words() {
  const board = field("board").value;
  const found = [agentName(1), agentName(2), "--game", rules().name, "--time", field("seconds").value.trim()];
  if (board === "size") found.push("--rows", field("rows").value.trim(), "--columns", field("columns").value.trim());
  else if (board) found.splice(2, 0, board);
  if (field("seed").value.trim()) found.push("--seed", field("seed").value.trim());
  return found;
}

/** @param {number} player */
function agentName(player) {
  const options = field(`options${player}`);
  return [field(`player${player}`).value, options.hidden ? "" : options.value.trim()].filter(Boolean).join(":");
}

/** @param {string} value @param {string} text */
function option(value, text) {
  const made = make("option", "", text);
  made.value = value;
  return made;
}

/* Offer what the chosen game has. */
function offerGame() {
  const { starts, size, agents } = rules();
  byId("set-board").replaceChildren(option("", "the usual start"), ...starts.map((name) => option(name, name)),
    ...(size ? [option("size", "an empty board of another size")] : []));
  if (size) [field("rows").value, field("columns").value] = size.map(String);
  const kinds = agents.map(({ kind }) => kind);
  for (const [player, wanted] of [["1", "ai"], ["2", "random"]]) {
    const before = field(`player${player}`).value;
    byId(`set-player${player}`).replaceChildren(
      ...(kinds.includes("ai") ? [option("ai", "ai.py, the text here")] : []), option("human", "you"),
      ...kinds.filter((kind) => kind !== "ai").map((kind) => option(kind, kind)),
    );
    field(`player${player}`).value = [before, wanted, "human"].find((kind) => kind === "human" || kinds.includes(kind)) ?? "human";
  }
  offerOptions();
}

function offerOptions() {
  for (const player of [1, 2]) {
    const chosen = field(`player${player}`).value;
    const known = rules().agents.find(({ kind }) => kind === chosen && kind !== "ai");
    const names = Object.keys(known?.options ?? {});
    field(`options${player}`).hidden = !names.length;
    field(`options${player}`).placeholder = names.includes("depth") ? "depth=3" : `${names[0]}=200`;
    field(`options${player}`).title = names.join(", ");
  }
  byId("set-size").hidden = field("board").value !== "size";
}

/**
 * Do one thing at a time, and show what goes wrong.
 * @param {() => Promise<string>} work
 * @param {string} text
 */
async function busy(work, text) {
  if (playground.playing) return;
  let done = () => {};
  playground.playing = new Promise((resolve) => {
    done = () => resolve();
  });
  playground.stopping = false;
  byId("findings").replaceChildren();
  for (const id of ["go", "check"]) button(id).disabled = true;
  if (playground.referee) state(text);
  try {
    await loaded;
    state(text);
    const wrong = await work();
    if (wrong) state(wrong, true);
    else if (byId("state").textContent === text) state("");
  } catch (error) {
    state(error instanceof Error ? error.message : String(error), true);
  }
  for (const id of ["go", "check"]) button(id).disabled = false;
  byId("stop").hidden = true;
  playground.playing = null;
  done();
}

/**
 * Mark the line of a fault in the editor.
 * @param {string | null | undefined} text
 */
function markFault(text) {
  const found = [...(text ?? "").matchAll(/ai\.py"?, line (\d+)/g)].pop();
  if (found) editor.mark(Number(found[1]));
}

byId("title").textContent = "Connect 4 playground";
document.querySelector("main")?.classList.add("idle");
document.querySelector("main")?.prepend(byId("desk"));
byId("set-game").append(...DATA.offer.map((/** @type {Rules} */ { name, title }) => option(name, title)));
offerGame();
const loaded = load().then(async () => {
  playground.referee = new PythonWorker("referee");
  playground.referee.event = (name, data) => kinds[name](data);
  playground.spare = new PythonWorker("agent");
  await playground.referee.ready;
  if (playground.referee.ended) throw new Error(`Python does not start in this browser; ${playground.referee.failure}`);
  state("");
});
loaded.catch((error) => state(error.message, true));

(function attend() {
  const { game, turn, over } = kinds;
  let stayed = false;
  kinds.game = (data) => {
    document.querySelector("main")?.classList.remove("idle");
    byId("after").hidden = true;
    byId("stop").hidden = false;
    game(data);
    document.querySelector(".stage")?.scrollIntoView({ behavior: CALM.matches ? "auto" : "smooth" });
  };
  kinds.turn = (data) => {
    turn(data);
    if (data.turn[8] !== null) markFault(DATA.games[DATA.games.length - 1].details[data.turn[8]]);
  };
  kinds.over = (data) => {
    over(data);
    markFault(data.game.why);
    if (!stayed) live.stay();
    stayed = true;
    byId("after").hidden = false;
  };
  field("game").addEventListener("change", offerGame);
  byId("setup").addEventListener("change", offerOptions);
  byId("setup").addEventListener("submit", (event) => {
    event.preventDefault();
    busy(() => playground.play(), "The game is on.");
  });
  byId("stop").addEventListener("click", () => playground.stop());
  byId("check").addEventListener("click", () => busy(() => playground.check(), "Checking ..."));
})();
