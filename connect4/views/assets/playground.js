/* The playground: passes the referee's events to the replay page, and its questions to the worker of
   the student's file. `workers.js` makes the workers. */

/**
 * @typedef {{name: string, title: string, size: [number, number] | null, starts: string[],
 *   agents: {kind: string, options: Record<string, string[]>}[]}} Rules
 * @typedef {{wrong?: string, player?: number, kind?: string, request?: any, record?: string, anew?: boolean}} Step
 * @typedef {Record<number, {worker: PythonWorker, answer: string} | null>} Files
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
  place: "", // the position of a link; the replay writes its turns in place of it
  halted: /** @type {Promise<void>} */ (Promise.resolve()), // settles when Stop is pressed
  halt: () => {},
  /** @type {PythonWorker | null} */
  thinking: null,
  /** @type {((text: string) => Promise<string>) | null} */
  typed: null,
  games: /** @type {{text: string, words: string[]}[]} */ ([]), // the file and the words of each

  /**
   * Return a worker that has run no student's code, or the one that is given while it lives.
   * @param {PythonWorker | null} [used]
   */
  async fresh(used) {
    if (used && !used.ended) return used;
    const worker = this.thinking = this.spare ?? new PythonWorker("agent");
    this.spare = null;
    await worker.ready;
    return worker;
  },

  /* Have the next one ready. */
  prepare() {
    if (!PHONE) this.spare ??= new PythonWorker("agent");
  },

  /* Start a referee; one before may hang in a long search. */
  async hire() {
    this.referee?.end();
    this.referee = new PythonWorker("referee");
    this.referee.event = (name, data) => kinds[name](data);
    await this.referee.ready;
    if (!this.referee.ended) return;
    await self.caches?.delete(KEPT); // a file that the browser keeps may be broken
    throw new Error(`Python does not start in this browser; ${this.referee.failure}`);
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
   * @param {PythonWorker | null} [used]
   */
  async load(setup, limit, used) {
    const worker = await this.fresh(used);
    const { answer } = await worker.ask("load", { setup }, limit, MOST);
    const failed = worker.failure || `ai.py was not loaded within ${limit} s`;
    return { worker, answer: answer ?? JSON.stringify({ failed }) };
  },

  /**
   * Play the game that is chosen, or go on from the turn of another one that is shown.
   * @param {boolean} [goOn]
   */
  async play(goOn = false) {
    const text = source.value;
    const from = goOn ? { record: live.records[page.index], turn: page.at } : {};
    const given = goOn ? this.games[page.index].words : words();
    const plan = await this.ask("plan", { words: given, source: text, place: field("board").value === "linked" ? this.place : "", ...from });
    if (plan.wrong) return plan.wrong;
    /** @type {Files} */
    const files = {};
    /** @type {Record<number, string>} */
    const loaded = {};
    for (const [player, setup] of Object.entries(plan.setups)) {
      const file = files[Number(player)] = await this.load(setup, plan.loading);
      loaded[Number(player)] = file.answer;
    }
    if (!this.stopping) {
      this.games.push({ text, words: given });
      /** @type {Step} */
      let step = await this.ask("play", { loaded });
      while (step.player && step.request && !this.stopping) {
        step = await Promise.race([this.turn(step, plan, files), this.halted.then(() => step)]);
      }
      if (this.stopping && step.record) {
        this.typed = null;
        if (step.kind !== "ai" && step.kind !== "human") await this.hire();
        await this.ask("stop", { record: step.record });
      }
    }
    for (const file of Object.values(files)) file?.worker.end();
    this.prepare();
    return "";
  },

  /**
   * Have a turn played; return the next one.
   * @param {Step} step
   * @param {any} plan
   * @param {Files} files
   * @returns {Promise<Step>}
   */
  async turn(step, plan, files) {
    const { player = 1, kind, request } = step;
    if (kind === "human") return this.person();
    if (kind !== "ai") return this.ask("think", {});
    const again = !files[player];
    const file = files[player] ??= await this.load(plan.setups[player], plan.loading);
    this.thinking = file.worker;
    if (live.turn) live.turn.at = Date.now() / 1000; // the clock starts when the worker is ready
    const given = again && !isReady(file.answer) ? { line: file.answer, seconds: 0, printed: "" } : await this.move(file.worker, request);
    if (this.stopping) return step;
    const next = await this.ask("answer", given);
    if (next.anew) {
      file.worker.end();
      files[player] = null;
      this.prepare();
    }
    return next;
  },

  /**
   * Ask the worker of a student's file for a move; return what the referee reads.
   * @param {PythonWorker} worker
   * @param {any} request
   */
  async move(worker, request) {
    const { answer, seconds, printed } = await worker.ask("turn", request, request.seconds, MOST);
    const ended = worker.failure ? JSON.stringify({ last: worker.failure }) : null;
    return { line: answer ?? ended, seconds, printed };
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

  stop() {
    if (!this.playing) return;
    this.stopping = true;
    state("Stopping ...");
    this.halt();
    this.thinking?.end();
  },

  /* Show what `check` finds: the rules of form, then the moves of each method. */
  async check() {
    const asked = await this.ask("check", { source: source.value });
    if (asked.wrong) return asked.wrong;
    const { limit, lines, request, setups } = asked;
    /** @type {any[]} */
    const found = [];
    /** @type {(number | null)[]} */
    const plays = [];
    /** @type {PythonWorker | null} */
    let worker = null;
    for (const [place, setup] of [setups[0], ...setups].entries()) {
      worker = await this.fresh(worker);
      const most = 3 * limit; // a browser is slower than a machine
      const { answer } = await worker.ask(place ? "moves" : "form", { setup, ...request }, most, MOST * 10);
      if (this.stopping) break;
      const said = answer ? JSON.parse(answer) : { found: [{
        line: lines[place - 1] ?? 1, rule: "smoke", required: true,
        text: `${worker.progress || "reading the file"}: ${worker.failure || `no answer within ${limit} s, nor in the ${most - limit} s after that; does it end?`}`,
      }] };
      if (!answer) worker.end();
      found.push(...said.found);
      if (place) plays.push(said.seconds ?? null);
      if (place ? said.loaded === false : found.some(({ required }) => required)) break;
    }
    worker?.end();
    this.prepare();
    if (this.stopping) return "";
    found.sort((one, two) => Number(two.required) - Number(one.required));
    byId("findings").replaceChildren(...found.map(({ line, rule, text, required }) => (
      make("li", "", makeButton(required ? "required" : "", () => editor.go(Number(line)),
        `Line ${line}: ${rule}${required ? "" : " (advice)"}: ${text}`))
    )));
    const known = plays.includes(null) ? "not known whether it plays" : `plays from ${Math.max(...plays.map(Number))} s a move`;
    state(found.some(({ required }) => required) ? "check: fix this before you hand it in."
      : `check: well formed; ${known} in this browser.${found.length ? " Advice:" : ""}`);
    return "";
  },

  /* Ask positions whose answer is known; show what the answers say, also after Stop. */
  async practice() {
    let asked = await this.ask("practice", { source: source.value, address: location.href.split("#")[0] });
    /** @type {PythonWorker | null} */
    let worker = null;
    while (asked.setup && !this.stopping) {
      byId("findings").replaceChildren(make("li", "", asked.progress));
      const file = await this.load(asked.setup, asked.loading, worker);
      worker = file.worker;
      const given = isReady(file.answer) ? await this.move(worker, asked.request) : { line: null, seconds: 0 };
      if (!this.stopping) asked = await this.ask("position", { loaded: file.answer, line: given.line, seconds: given.seconds });
    }
    byId("findings").replaceChildren();
    worker?.end();
    this.prepare();
    if (asked.wrong) return asked.wrong;
    const { text, page, fault } = await this.ask("practised", {});
    if (!text) return "";
    const link = make("a", "", "The positions as pictures");
    link.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
    link.target = "_blank";
    const report = make("pre", "", text);
    report.tabIndex = 0;
    byId("practised").replaceChildren(link, report);
    state("The result is below.");
    markFault(fault);
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
      this.games.push(this.games[game]);
      for (const [name, data] of events) kinds[name](data);
      return answer === null ? "the analysis has ended without a result" : JSON.parse(answer).wrong ?? "The costs are shown now.";
    }
    const asked = { record, turn, source: this.games[game].text };
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
  else if (board && board !== "linked") found.splice(2, 0, board);
  if (field("seed").value.trim()) found.push("--seed", field("seed").value.trim());
  return found;
}

/** @param {number} player */
function agentName(player) {
  const options = field(`options${player}`);
  return [field(`player${player}`).value, options.hidden ? "" : options.value.trim()].filter(Boolean).join(":");
}

/* Offer what the chosen game has. */
function offerGame() {
  const { starts, size, agents } = rules();
  if (!/^#\d+\.\d+$/.test(location.hash)) playground.place = location.hash.slice(1);
  const linked = playground.place && rules().name === "extended" ? [option("linked", "the position of the link")] : [];
  byId("set-board").replaceChildren(...linked, option("", "the usual start"), ...starts.map((name) => option(name, name)),
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
  playground.halted = new Promise((resolve) => {
    playground.halt = resolve;
  });
  for (const id of ["findings", "practised"]) byId(id).replaceChildren();
  for (const id of ["go", "check", "practice"]) button(id).disabled = true;
  byId("stop").hidden = false;
  if (playground.referee) state(text);
  try {
    await Promise.race([loaded, playground.halted]);
    if (!playground.stopping) {
      state(text);
      byId("state").scrollIntoView({ block: "nearest" });
      const wrong = await work();
      if (wrong) state(wrong, true);
      else if (byId("state").textContent === text) state("");
    }
    if (playground.stopping) state("Stopped.");
  } catch (error) {
    state(error instanceof Error ? error.message : String(error), true);
  }
  for (const id of ["go", "check", "practice"]) button(id).disabled = false;
  byId("stop").hidden = true;
  playground.playing = null;
  done();
}

/**
 * Say a fault beside the editor, and mark its line.
 * @param {string | null | undefined} text
 */
function markFault(text) {
  const line = Number([...(text ?? "").matchAll(/ai\.py"?, line (\d+)/g)].pop()?.[1] ?? 0);
  const said = text?.match(/^(?!Traceback| ).+/m)?.[0];
  if (line) editor.mark(line);
  if (said) byId("findings").replaceChildren(make("li", "", makeButton("required", () => line && editor.go(line), line ? `Line ${line}: ${said}` : said)));
}

byId("title").textContent = "Connect 4 playground";
document.querySelector("main")?.classList.add("idle");
document.querySelector("main")?.prepend(byId("desk"));
byId("set-game").append(...DATA.offer.map((/** @type {Rules} */ { name, title }) => option(name, title)));
offerGame();
addEventListener("hashchange", () => {
  field("game").value = "extended";
  offerGame();
});
const loaded = load(async () => {
  await playground.hire();
  playground.prepare();
  state("");
});
loaded.catch((error) => state(error.message, true));

(function attend() {
  const { game, turn, over } = kinds;
  kinds.game = (data) => {
    document.querySelector("main")?.classList.remove("idle");
    byId("after").hidden = true;
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
    if (data.game.why) { // no turn was played: back to the editor
      document.querySelector("main")?.classList.add("idle");
      byId("findings").scrollIntoView({ block: "center" });
    }
    if (!byId("save").firstChild) {
      live.stay();
      live.make();
      byId("save").append(makeButton("", () => busy(() => playground.play(true), "The game goes on."), "Play on from this turn"));
    }
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
  byId("practice").addEventListener("click", () => busy(() => playground.practice(), "Asking positions whose answer is known, for a minute at most. Stop shows the result so far."));
})();
