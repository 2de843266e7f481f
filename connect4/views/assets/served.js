/* The page of a game on this machine: events come from its server, and moves go to it. */

/** @param {string} path @param {any} data */
const send = (path, data) => fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(data) });

/** @param {string} path @param {any} data @returns {Promise<string>} what is wrong, or nothing */
async function post(path, data) {
  const answer = await send(path, data);
  return answer.ok ? (await answer.json()).wrong ?? "" : answer.text();
}

(function connect() {
  const source = new EventSource("events");
  kinds.made = (path) => live.made(`../${path}`);
  /** @param {{again: boolean}} data whether the game can be played again */
  kinds.stay = ({ again }) => {
    for (const [label, swap] of again ? /** @type {[string, boolean][]} */ ([["Swap sides", true], ["Rematch", false]]) : []) {
      byId("save").prepend(makeButton("", async () => {
        const answer = await send("again", { swap });
        if (answer.ok) location.href = `../${(await answer.json()).path}`;
      }, label));
    }
    byId("save").append(makeButton("", () => location.assign("../"), "New game"));
    live.stay();
  };
  kinds.end = (data) => {
    source.close();
    live.end(data);
  };
  for (const [kind, act] of Object.entries(kinds)) {
    source.addEventListener(kind, (event) => act(JSON.parse(/** @type {MessageEvent} */ (event).data)));
  }
  source.addEventListener("error", () => {
    if (live.going) say("The connection to the game is lost.");
    else source.close();
  });
})();
