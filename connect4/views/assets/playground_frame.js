/* Inside the playground's sandboxed frame: makes workers and passes messages between them and the
   page. It has no network, no storage and no origin, and so have its workers. */
{
  /** @type {Map<number, {worker: Worker, asked: number}>} */
  const workers = new Map();
  let address = "";
  /** @type {{module: WebAssembly.Module | string, files: Record<string, ArrayBuffer>} | null} */
  let runtime = null;

  /** @param {any} message */
  const tell = (message) => parent.postMessage(message, "*");

  /** @type {Record<string, (data: any) => void | Promise<void>>} */
  const acts = {
    async runtime({ scripts, wasm, files }) {
      address = URL.createObjectURL(new Blob(scripts, { type: "text/javascript" }));
      runtime = { module: await WebAssembly.compile(wasm).catch(String), files }; // a worker says what is wrong
      tell({ kind: "ready" });
    },
    make({ id, role }) {
      const worker = new Worker(address);
      const made = { worker, asked: 0 };
      workers.set(id, made);
      worker.onmessage = ({ data }) => tell({ kind: "said", id, data, took: performance.now() - made.asked });
      worker.onerror = (event) => {
        event.preventDefault();
        tell({ kind: "said", id, data: { failed: String(event.message).slice(0, 500) }, took: performance.now() - made.asked });
      };
      worker.postMessage({ ...runtime, role });
    },
    ask({ id, data }) {
      const made = workers.get(id);
      if (!made) return;
      made.asked = performance.now();
      made.worker.postMessage(data);
    },
    end({ id }) {
      workers.get(id)?.worker.terminate();
      workers.delete(id);
    },
  };
  addEventListener("message", ({ data, source }) => {
    if (source === parent) acts[data.kind](data);
  });
  document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => (
    tell({ kind: "refused", directive: effectiveDirective })));
  tell({ kind: "here" });
}
