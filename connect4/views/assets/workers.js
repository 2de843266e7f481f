/* The workers of the playground. The referee and the student's file each run in a worker of a
   sandboxed frame, which has neither network nor storage. This page fetches what they need, and
   trusts nothing that a student's worker says. */

/** @typedef {{answer: string | null, seconds: number, printed: string}} Answer */

const GRACE = .25; // seconds after its time in which an answer may still arrive

/** @param {string} text @param {boolean} [wrong] */
function state(text, wrong = false) {
  byId("state").textContent = text;
  byId("state").classList.toggle("wrong", wrong);
}

/** @type {HTMLIFrameElement} */
let frame;
/** @type {Map<number, PythonWorker>} */
const workers = new Map();

/** @param {any} message @param {ArrayBuffer[]} [given] */
function tell(message, given = []) {
  frame.contentWindow?.postMessage(message, "*", given);
}

/* A worker in the frame. */
class PythonWorker {
  static made = 0;

  /** @param {string} role */
  constructor(role) {
    this.id = ++PythonWorker.made;
    this.printed = this.progress = this.failure = "";
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
    workers.set(this.id, this);
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
    } else if (data.failed) {
      this.failure = `its Python ended: ${data.failed}`;
      this.end(took / 1000);
    } else if (data.number === this.number) this.settle(data.answer, took / 1000);
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
        resolve({ answer: answer !== null && (typeof answer !== "string" || answer.length > most) ? "" : answer, seconds, printed: this.printed });
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
    workers.delete(this.id);
    tell({ kind: "end", id: this.id });
    this.begin?.(null);
    this.settle(null, seconds);
  }
}

/**
 * Say that a content security policy forbids what Python needs.
 * @param {string} directive
 */
function forbidden(directive) {
  return new Error(`A Content-Security-Policy of this web server forbids what the page needs (${directive}). `
    + "The kit's docs/classroom.md, under \"Playground\", has the header that is needed.");
}

/**
 * An address of this site; without the name and password that the page's own may have.
 * @param {string} name
 */
const inSite = (name) => new URL(name, origin + location.pathname).href;

/* The files that this browser keeps, so that the page works without a network. Without HTTPS there
   is no such store. */
async function openStore() {
  try {
    await navigator.serviceWorker.register(inSite("offline.js"));
    return await caches.open(KEPT);
  } catch {
    return null;
  }
}

/**
 * Keep what the page needs, and delete what an older page needed.
 * @param {Cache} store
 * @param {string[]} addresses
 * @param {boolean} isNew whether some of them were not kept before
 */
async function keepAll(store, addresses, isNew) {
  const page = inSite(".");
  if (isNew) await store.add(new Request(page, { cache: "force-cache" }));
  for (const request of await store.keys()) {
    if (![page, ...addresses].includes(request.url)) await store.delete(request);
  }
}

/**
 * Fetch Python and the kit, prepare the frame for workers, and begin.
 * @param {() => Promise<void>} begin
 */
async function load(begin) {
  if (location.protocol === "file:") {
    throw new Error("This page needs a web server. In its folder run: python3 -m http.server\nThen open http://localhost:8000");
  }
  if (origin === "null") throw forbidden("sandbox");
  /** @type {(error: Error) => void} */
  let fail = () => {};
  const refused = new Promise((_, reject) => {
    fail = reject;
  });
  document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
    if (effectiveDirective !== "img-src") fail(forbidden(effectiveDirective)); // that is the icon, which nothing needs
  });
  try {
    await Promise.race([prepare(fail).then(begin), refused]);
  } finally {
    byId("loading").hidden = true;
  }
}

/** @param {(error: Error) => void} fail */
async function prepare(fail) {
  const bar = /** @type {HTMLProgressElement} */ (byId("loading"));
  let [bytes, isNew] = [0, false];
  state("Loading Python, 17 MB; the browser keeps it.");
  bar.hidden = false;
  const store = await openStore();
  const fetched = async (/** @type {string} */ address) => {
    const unloaded = (/** @type {string} */ why) => new Error(`${address} cannot be loaded${why}`);
    let answer = await store?.match(address);
    if (!answer) {
      isNew = true;
      answer = await fetch(address).catch(() => undefined);
      if (!answer) await new Promise((resolve) => setTimeout(resolve, 200)); // for the event of a policy
      if (!answer?.ok) throw unloaded(answer ? `: the server says ${answer.status}. Load this page again.` : "; is this machine online? Then load this page again.");
      if (/html/.test(answer.headers.get("content-type") ?? "")) throw unloaded(": the server sends a page in its place. Do you have to sign in?");
      store?.put(address, answer.clone()).catch(() => {}); // a full store keeps nothing
    }
    const counted = new TransformStream({
      transform(chunk, out) {
        bytes += chunk.length;
        bar.value = bytes / 1e6;
        out.enqueue(chunk);
      },
    });
    return new Response(answer.body?.pipeThrough(counted)).arrayBuffer().catch(() => Promise.reject(unloaded("; is this machine online? Then load this page again.")));
  };
  const names = ["pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", DATA.wheel];
  const addresses = [...names.map((name) => DATA.runtime + name), DATA.kit].map(inSite);
  frame = make("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.title = "Python";
  frame.tabIndex = -1;
  frame.className = "frame"; // shown, or the browser gives its workers little of the processor
  frame.srcdoc = DATA.frame;
  /** @type {Record<string, (data: null) => void>} */
  const waiting = {};
  const [here, ready] = ["here", "ready"].map((kind) => new Promise((resolve) => {
    waiting[kind] = resolve;
  }));
  addEventListener("message", ({ data, source: from }) => {
    if (from !== frame.contentWindow) return;
    if (data.kind === "said") workers.get(data.id)?.hear(data.data, data.took);
    else if (data.kind === "refused") fail(forbidden(data.directive));
    else waiting[data.kind]?.(null);
  });
  document.body.append(frame);
  const late = setTimeout(() => fail(forbidden("script-src")), 60_000);
  here.then(() => clearTimeout(late));
  const [[one, two, wasm, library, numpy, kit]] = await Promise.all([Promise.all(addresses.map(fetched)), here]);
  bar.removeAttribute("value");
  state("Starting Python ...");
  const files = { "python_stdlib.zip": library, "numpy.whl": numpy, "kit.zip": kit };
  const scripts = [one, "\n", two, "\n", DATA.worker];
  tell({ kind: "runtime", scripts, wasm, files }, [one, two, wasm, library, numpy, kit]);
  await ready;
  if (store) keepAll(store, addresses, isNew).catch(() => {});
}
