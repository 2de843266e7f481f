/* The playground: the referee and the student's file each run in a worker of a sandboxed frame,
   which has neither network nor storage. This page fetches what they need, and passes on what they
   say: the referee's events to the replay page, its questions to the student's worker. */

/**
 * @typedef {{name: string, title: string, size: [number, number] | null, starts: string[],
 *   agents: {kind: string, options: Record<string, string[]>}[]}} Rules
 * @typedef {{answer: string | null, seconds: number, printed: string}} Answer
 * @typedef {{wrong?: string, player?: number, kind?: string, request?: any, anew?: boolean}} Step
 */

const GRACE = .25; // seconds after its time in which an answer may still arrive
const MOST = 1 << 16; // characters of an answer
const PHONE = matchMedia("(max-width: 52rem)").matches;

/** @param {string} id @returns {HTMLInputElement} */
const field = (id) => /** @type {HTMLInputElement} */ (byId(`set-${id}`));

/** @returns {Rules} */
const rules = () => DATA.offer.find((/** @type {Rules} */ { name }) => name === field("game").value);

/** @param {string} text @param {boolean} [wrong] */
function state(text, wrong = false) {
  byId("state").textContent = text;
  byId("state").classList.toggle("wrong", wrong);
}

/** @type {HTMLIFrameElement} */
let frame;
/** @type {Map<number, Hand>} */
const hands = new Map();

/** @param {any} message @param {ArrayBuffer[]} [given] */
function tell(message, given = []) {
  frame.contentWindow?.postMessage(message, "*", given);
}

/* A worker in the frame. */
class Hand {
  static made = 0;

  /** @param {string} role */
  constructor(role) {
    this.id = ++Hand.made;
    this.printed = this.progress = "";
    this.number = 0;
    this.ended = false;
    /** @type {(name: string, data: any) => void} */
    this.event = () => {};
    /** @type {(answer: string | null, seconds: number) => void} */
    this.settle = () => {};
    this.restart = () => {};
    /** @type {Promise<unknown>} */
    this.before = this.ready = new Promise((resolve) => {
      this.begin = resolve;
    });
    hands.set(this.id, this);
    tell({ kind: "make", id: this.id, role });
  }

  /**
   * Take what the worker says. Nothing of it is trusted but the referee's.
   * @param {any} data
   * @param {number} took
   */
  hear(data, took) {
    if (data.ready) this.begin?.(null);
    else if (data.printed) this.printed = (this.printed + data.printed).slice(0, 4000);
    else if (data.event) this.event(data.event, JSON.parse(data.text));
    else if (data.progress) {
      this.progress = String(data.progress).slice(0, 200);
      this.restart();
    } else if (data.number === this.number) this.settle(data.answer ?? null, took / 1000);
    else if (data.failed) {
      this.begin?.(null);
      this.settle(null, took / 1000);
    }
  }

  /**
   * Ask the worker; without an answer after `limit` seconds it ends, and the answer is null.
   * @param {string} kind
   * @param {any} data
   * @param {number} [limit]
   * @param {number} [most] the characters of an answer
   * @returns {Promise<Answer>}
   */
  ask(kind, data, limit = Infinity, most = Infinity) {
    const answered = this.before.then(() => new Promise((resolve) => {
      /** @type {number | undefined} */
      let timer;
      const number = ++this.number;
      this.printed = "";
      this.settle = (answer, seconds) => {
        clearTimeout(timer);
        this.settle = () => {};
        resolve({ answer: (answer?.length ?? 0) > most ? "" : answer, seconds, printed: this.printed });
      };
      this.restart = () => {
        clearTimeout(timer);
        if (limit < Infinity) timer = setTimeout(() => this.end(limit + GRACE), (limit + GRACE) * 1000);
      };
      if (this.ended) this.settle(null, 0);
      else {
        this.restart();
        tell({ kind: "ask", id: this.id, data: { number, kind, text: JSON.stringify(data) } });
      }
    }));
    this.before = answered;
    return answered;
  }

  /** @param {number} [seconds] */
  end(seconds = 0) {
    this.ended = true;
    hands.delete(this.id);
    tell({ kind: "end", id: this.id });
    this.begin?.(null);
    this.settle(null, seconds);
  }
}

const room = {
  referee: /** @type {Hand} */ (/** @type {unknown} */ (null)),
  spare: /** @type {Hand | null} */ (null),
  playing: /** @type {Promise<void> | null} */ (null),
  stopping: false,
  /** @type {Hand | null} */
  thinking: null,
  /** @type {((text: string) => Promise<string>) | null} */
  typed: null,
  sources: /** @type {string[]} */ ([]), // of each game of the page

  /* Return a worker that has run no student's code. */
  async fresh() {
    const hand = this.spare ?? new Hand("agent");
    this.spare = null;
    await hand.ready;
    return hand;
  },

  /* Have the next one ready. */
  prepare() {
    if (!PHONE) this.spare ??= new Hand("agent");
  },

  /**
   * Ask the referee.
   * @param {string} kind
   * @param {any} data
   * @returns {Promise<any>}
   */
  async ask(kind, data) {
    const { answer } = await this.referee.ask(kind, data);
    if (answer === null) throw new Error("the page's own Python has ended; load the page again");
    return JSON.parse(answer);
  },

  /**
   * Load a student's file; return its worker, and what it said.
   * @param {any} setup
   * @param {number} limit
   */
  async load(setup, limit) {
    const hand = this.thinking = await this.fresh();
    const { answer } = await hand.ask("load", { setup }, limit, MOST);
    return { hand, answer };
  },

  /* Play the game that is chosen. */
  async play() {
    const text = source.value;
    const plan = await this.ask("plan", { words: words(), source: text });
    if (plan.wrong) return plan.wrong;
    /** @type {Record<number, {hand: Hand, answer: string | null} | null>} */
    const files = {};
    /** @type {Record<number, string | null>} */
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
        this.thinking = file.hand;
        if (live.turn) live.turn.at = Date.now() / 1000; // the clock starts when the worker is ready
        const given = again && !isReady(file.answer)
          ? { answer: file.answer ?? JSON.stringify({ failed: `ai.py was not loaded within ${plan.loading} s` }), seconds: 0, printed: "" }
          : await file.hand.ask("turn", request, request.seconds, MOST);
        if (this.stopping) continue;
        step = await this.ask("answer", { line: given.answer, seconds: given.seconds, printed: given.printed });
        if (step.anew) {
          file.hand.end();
          files[player] = null;
          this.prepare();
        }
      }
    }
    for (const file of Object.values(files)) file?.hand.end();
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
    const seconds = Number(field("seconds").value) || 2;
    const asked = await this.ask("check", { source: source.value, seconds });
    if (asked.wrong) return asked.wrong;
    const hand = await this.fresh();
    const { answer } = await hand.ask("check", asked, seconds + 5, MOST * 10);
    hand.end();
    this.prepare();
    const late = { line: 1, rule: "smoke", required: true, text: `${hand.progress}: no answer within ${seconds} s; does it end?` };
    const found = answer === null ? [late] : JSON.parse(answer);
    byId("findings").replaceChildren(...found.map((/** @type {any} */ { line, rule, text, required }) => (
      make("li", "", makeButton(required ? "required" : "", () => editor.go(Number(line)),
        `Line ${line}: ${rule}${required ? "" : " (advice)"}: ${text}`))
    )));
    state(found.some((/** @type {any} */ { required }) => required) ? "check: this is to fix before you hand it in."
      : `check: well formed; it gives legal moves${found.length ? ". Advice:" : "."}`);
    return "";
  },

  /**
   * Make the search tree of a turn, or the analysis of a game.
   * @param {{what: string, game: number, turn: number}} asked
   */
  async make({ what, game, turn }) {
    const record = live.records[game];
    if (what === "analysis") {
      const helper = new Hand("referee");
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
      const hand = await this.fresh();
      const { answer } = await hand.ask("explain", tree.ask, tree.seconds + 30, MOST * 250);
      hand.end();
      this.prepare();
      if (answer === null) return `explain gave no answer within ${tree.seconds + 30} s`;
      tree = await this.ask("tree", { ...asked, answer });
    }
    if (tree.page) live.made(URL.createObjectURL(new Blob([tree.page], { type: "text/html" })));
    return tree.wrong ?? "";
  },
};

/** @param {string | null} answer */
const isReady = (answer) => answer !== null && answer.startsWith('{"ready"');

/** @param {string} path @param {any} data @returns {Promise<string>} what is wrong, or nothing */
async function post(path, data) {
  if (path === "make") return room.make(data);
  if (path === "move") return room.typed ? room.typed(data.text) : "it is not your turn";
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
    const known = rules().agents.find(({ kind }) => kind === field(`player${player}`).value);
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
  if (room.playing) return;
  let done = () => {};
  room.playing = new Promise((resolve) => {
    done = () => resolve();
  });
  room.stopping = false;
  byId("findings").replaceChildren();
  for (const id of ["go", "check"]) button(id).disabled = true;
  if (room.referee) state(text);
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
  room.playing = null;
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

/* Fetch Python and the kit, and start them in the frame. */
async function load() {
  if (location.protocol === "file:") {
    throw new Error("This page needs a web server. In its folder run: python3 -m http.server\nThen open http://localhost:8000");
  }
  let bytes = 0;
  const fetched = async (/** @type {string} */ address) => {
    const answer = await fetch(address, { cache: "force-cache", credentials: "omit" }).catch(() => null);
    if (!answer?.ok || !answer.body) throw new Error(`${address} cannot be loaded; is this machine online?`);
    const counted = new TransformStream({
      transform(chunk, out) {
        bytes += chunk.length;
        state(`Loading Python: ${(bytes / 1e6).toFixed(0)} of 17 MB; the browser keeps it.`);
        out.enqueue(chunk);
      },
    });
    return new Response(answer.body.pipeThrough(counted)).arrayBuffer();
  };
  const names = ["pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", DATA.wheel];
  const addresses = [...names.map((name) => DATA.runtime + name), DATA.kit];
  frame = make("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.title = "Python";
  frame.hidden = true;
  frame.srcdoc = DATA.frame;
  const answers = { here: () => {}, ready: () => {} };
  const here = new Promise((resolve) => {
    answers.here = () => resolve(null);
  });
  const ready = new Promise((resolve) => {
    answers.ready = () => resolve(null);
  });
  addEventListener("message", ({ data, source: from }) => {
    if (from !== frame.contentWindow) return;
    if (data.kind === "here") answers.here();
    else if (data.kind === "ready") answers.ready();
    else if (data.kind === "said") hands.get(data.id)?.hear(data.data, data.took);
  });
  document.body.append(frame);
  const [[one, two, wasm, library, numpy, kit]] = await Promise.all([Promise.all(addresses.map(fetched)), here]);
  state("Starting Python ...");
  const files = { "python_stdlib.zip": library, "numpy.whl": numpy, "kit.zip": kit };
  const scripts = [one, "\n", two, "\n", DATA.worker];
  tell({ kind: "runtime", scripts, wasm, files }, [one, two, wasm, library, numpy, kit]);
  await ready;
  room.referee = new Hand("referee");
  room.referee.event = (name, data) => kinds[name](data);
  room.spare = new Hand("agent");
  await room.referee.ready;
  if (room.referee.ended) throw new Error("Python does not start in this browser");
  state("");
}

byId("title").textContent = "Connect 4 playground";
document.querySelector("main")?.classList.add("idle");
document.querySelector("main")?.prepend(byId("desk"));
byId("set-game").append(...DATA.offer.map((/** @type {Rules} */ { name, title }) => option(name, title)));
offerGame();
const loaded = load();
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
    busy(() => room.play(), "The game is on.");
  });
  byId("stop").addEventListener("click", () => room.stop());
  byId("check").addEventListener("click", () => busy(() => room.check(), "Checking ..."));
})();
