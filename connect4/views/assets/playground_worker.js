/* A worker of the playground: Python from the files that the page sent, then one request after
   another. It stands behind the scripts of Pyodide in one file, so that nothing is loaded. */
{
  const MOST_PRINTED = 4000; // characters in one turn
  const MOST_SAID = 200; // lines of progress in one request
  /* Names that a file's code finds nowhere: it has Python alone, and the policy of the frame denies
     the network in any case. */
  const GONE = [
    "fetch", "XMLHttpRequest", "WebSocket", "WebSocketStream", "WebTransport", "EventSource", "importScripts", "Worker", "SharedWorker",
    "BroadcastChannel", "indexedDB", "caches", "postMessage", "onmessage", "close", "navigator", "Notification",
    "FileReaderSync", "MessageChannel", "MessagePort", "addEventListener", "removeEventListener", "dispatchEvent",
    "StorageManager", "cookieStore", "setTimeout", "setInterval", "requestAnimationFrame", "queueMicrotask",
  ];
  const scope = /** @type {any} */ (self);
  const say = scope.postMessage.bind(scope);
  let room = MOST_PRINTED;

  /** @param {any} event */
  async function begin({ data: { module, files, role } }) {
    if (typeof module === "string") throw new Error(module);
    const whole = { info: { arch: "wasm32", platform: "emscripten_3_1_58", version: "0.27.7", python: "3.12.7" }, packages: {} };
    scope.fetch = async (/** @type {string} */ address) => {
      const name = String(address).split("/").pop() ?? "";
      return new Response(name === "pyodide-lock.json" ? JSON.stringify(whole) : files[name]);
    };
    const { instantiate } = /** @type {any} */ (WebAssembly);
    WebAssembly.instantiateStreaming = async (_, imports) => (
      { module, instance: await instantiate(module, imports) }
    );
    const print = (/** @type {string} */ line) => {
      if (room > 0) say({ printed: `${line}\n`.slice(0, room) });
      room -= line.length + 1;
    };
    const pyodide = await scope.loadPyodide({
      indexURL: "https://runtime.invalid/", stdin: () => null, stdout: print, stderr: print, jsglobals: { Object },
    });
    pyodide.unpackArchive(files["numpy.whl"], "wheel");
    pyodide.unpackArchive(files["kit.zip"], "zip", { extractDir: "/kit" });
    const handle = pyodide.runPython(
      role === "referee" ? "import sys; sys.path.insert(0, '/kit')\nfrom grader.playground.referee import Referee\nReferee"
        : "import sys; sys.path.insert(0, '/kit')\nfrom grader.playground.agent import handle\nhandle",
    );
    const referee = role === "referee"
      ? handle((/** @type {string} */ name, /** @type {string} */ text) => say({ event: name, text })) : null;
    let lines = 0;
    const progress = (/** @type {string} */ text) => ++lines <= MOST_SAID && say({ progress: text });
    scope.addEventListener("message", (/** @type {MessageEvent} */ { data: { number, kind, text } }) => {
      room = MOST_PRINTED;
      lines = 0;
      try {
        const answer = referee ? referee.handle(kind, text) : handle(kind, text, progress);
        say({ number, answer: String(answer) });
      } catch (error) {
        say({ number, failed: String(error).slice(-2000) });
      }
    });
    for (const name of GONE) {
      for (let owner = scope; owner; owner = Object.getPrototypeOf(owner)) delete owner[name];
    }
    say({ ready: true });
  }
  scope.addEventListener("message", (/** @type {MessageEvent} */ event) => {
    begin(event).catch((error) => say({ failed: String(error).slice(-2000) }));
  }, { once: true });
}
