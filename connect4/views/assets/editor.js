/* The editor of the playground: a text field with line numbers and colours, kept in this browser.
   Of tabs of the same page one writes (`tabs`), so that none overwrites another's text. */

const KEPT = `connect4-playground:${new URL(".", location.href).pathname}`;
const BEFORE = `${KEPT}:before`; // of the text that Reset, Open or a slip has replaced
const MOST_OPENED = 1e6; // bytes of a file
const PAIRS = "()[]{}";
const TOKENS = new RegExp([
  /(?<comment>#.*)/,
  /(?<string>(?:\b[rbfu]{1,2})?(?:"""(?:\\[^]|[^\\])*?(?:"""|$)|'''(?:\\[^]|[^\\])*?(?:'''|$)|"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?))/,
  /(?<keyword>\b(?:False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)\b)/,
  /(?<bracket>[()[\]{}])/,
].map((pattern) => pattern.source).join("|"), "g");
const source = /** @type {HTMLTextAreaElement} */ (byId("source"));
const finder = /** @type {HTMLInputElement} */ (byId("find"));

/** @typedef {{kind: string, first: number, last: number}} Token */

/** @param {string} name @returns {string | null} */
function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // a browser that keeps nothing
  }
}

/** @param {string} name @param {string} text */
function keepText(name, text) {
  try {
    localStorage.setItem(name, text);
    return true;
  } catch {
    return false;
  }
}

const editor = {
  marked: 0, // the line of the last fault
  leaving: false, // whether Escape was pressed, so that Tab leaves
  tokens: /** @type {Token[]} */ ([]),
  found: [0, 0], // what was found last
  unsaved: false, // whether the browser does not keep the text
  saved: kept(KEPT), // what the browser has kept of this tab's text
  before: kept(BEFORE), // the text of that name
  opened: DATA.stub, // by what; it needs no keeping until it is edited
  steps: /** @type {[string, string][]} */ ([]), // texts that were replaced as a whole, and by what
  step: 0, // how many of these are not undone

  /* Number and colour the lines that are shown. */
  paint() {
    const { value, scrollTop, scrollLeft, clientHeight } = source;
    const height = parseFloat(getComputedStyle(source).lineHeight);
    const top = Math.floor(scrollTop / height);
    const lines = value.split("\n");
    const shown = lines.slice(top, top + Math.ceil(clientHeight / height) + 2);
    const begin = lines.slice(0, top).reduce((sum, text) => sum + text.length + 1, 0);
    const end = begin + shown.join("\n").length;
    const marks = [...this.tokens.filter(({ kind }) => kind !== "bracket"), ...this.pair(),
      { kind: "found", first: this.found[0], last: this.found[1] }]
      .filter(({ first, last }) => last > first && last > begin && first < end);
    const edges = [...new Set([begin, end, ...marks.flatMap(({ first, last }) => [first, last])])]
      .filter((edge) => edge >= begin && edge <= end).sort((one, two) => one - two);
    byId("colours").replaceChildren(...edges.slice(1).map((last, index) => {
      const kinds = marks.filter((mark) => mark.first < last && mark.last > edges[index]);
      const text = value.slice(edges[index], last);
      return kinds.length ? make("span", kinds.map(({ kind }) => kind).join(" "), text) : text;
    }));
    byId("lines").replaceChildren(...shown.map((_, index) => (
      top + index + 1 === this.marked ? make("b", "", `\u25b8${this.marked}\n`) : `${top + index + 1}\n`)));
    byId("lines").style.transform = `translateY(${top * height - scrollTop}px)`;
    byId("colours").style.transform = `translate(${-scrollLeft}px, ${top * height - scrollTop}px)`;
  },

  /* Return the bracket at the cursor and its partner. */
  pair() {
    const brackets = this.tokens.filter(({ kind }) => kind === "bracket");
    const { value, selectionStart: at, selectionEnd: end } = source;
    const here = brackets.findIndex(({ first, last }) => last === at || first === at);
    if (here < 0 || at !== end) return [];
    const step = PAIRS.indexOf(value[brackets[here].first]) % 2 ? -1 : 1;
    const open = [];
    for (let place = here; brackets[place]; place += step) {
      const shape = PAIRS.indexOf(value[brackets[place].first]);
      if ((shape % 2 ? -1 : 1) === step) open.push(shape);
      else if (((open.pop() ?? -2) ^ 1) !== shape) break;
      if (!open.length) return [brackets[here], brackets[place]].map((token) => ({ ...token, kind: "pair" }));
    }
    return [{ ...brackets[here], kind: "alone" }];
  },

  /**
   * Mark a line; 0 is none.
   * @param {number} line
   */
  mark(line) {
    this.marked = line;
    this.paint();
  },

  /**
   * Go to a line.
   * @param {number} line
   */
  go(line) {
    const lines = source.value.split("\n");
    const begin = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    source.focus();
    source.setSelectionRange(begin, begin + (lines[line - 1] ?? "").length);
    this.reveal(line);
    this.mark(line);
  },

  /** @param {number} line */
  reveal(line) {
    source.scrollTop = Math.max(0, (line - 6) * parseFloat(getComputedStyle(source).lineHeight));
  },

  /**
   * Find the next place of the text in the field, or the one before.
   * @param {boolean} back
   */
  find(back) {
    const [text, word] = [source.value.toLowerCase(), finder.value.toLowerCase()];
    const at = back ? text.lastIndexOf(word, this.found[0] - 1) : text.indexOf(word, this.found[1]);
    const first = !word ? -1 : at >= 0 && !(back && !this.found[0]) ? at : back ? text.lastIndexOf(word) : text.indexOf(word);
    this.found = first < 0 ? [0, 0] : [first, first + word.length];
    byId("count").textContent = !word ? "" : first < 0 ? "not found" : `${text.slice(0, first).split(word).length} of ${text.split(word).length - 1}`;
    if (first >= 0) {
      source.setSelectionRange(first, first + word.length);
      this.reveal(text.slice(0, first).split("\n").length);
    }
    this.paint();
  },

  /**
   * Replace the whole text, for `undo`: a long one takes Chromium's own editing minutes.
   * @param {string} text
   */
  replace(text) {
    if (text !== source.value) this.steps.splice(this.step++, Infinity, [source.value, text]);
    source.value = text;
    this.changed();
  },

  /** @param {boolean} again @returns whether there was a replacement to undo, or to make again */
  undo(again) {
    const [from, to] = again ? [0, 1] : [1, 0];
    const step = this.steps[this.step - from];
    if (step?.[from] !== source.value) return false;
    this.step += to - from;
    source.value = step[to];
    this.changed();
    return true;
  },

  /** @param {string} text @param {string} what @param {string} [opened] */
  set(text, what, opened = text) {
    if (source.readOnly) return;
    if (text === this.before || source.value !== this.opened) keepText(BEFORE, this.before = source.value);
    byId("before").hidden = false;
    this.opened = opened;
    this.replace(text);
    source.focus();
    source.setSelectionRange(0, 0);
    source.scrollTop = 0;
    state(`${what} Ctrl-Z or "Text before" brings yours back.`);
  },

  changed() {
    const { value } = source;
    this.tokens = [...value.matchAll(TOKENS)].map(({ 0: { length }, index: first, groups }) => (
      { kind: Object.keys(groups ?? {}).find((name) => groups?.[name] !== undefined) ?? "", first, last: first + length }));
    this.found = [0, 0];
    this.mark(0);
    if (tabs.isOld()) tabs.read();
    if (tabs.writing) [this.unsaved, this.saved] = [!keepText(KEPT, value), kept(KEPT)];
    byId("unsaved").hidden = !this.unsaved;
    byId("keeps").hidden = this.unsaved || source.readOnly;
  },

  /**
   * Move the selected lines by four columns, or put in spaces up to the next fourth column.
   * @param {boolean} back
   */
  indent(back) {
    const { value, selectionStart: first, selectionEnd: last } = source;
    const begin = value.lastIndexOf("\n", first - 1) + 1;
    if (!back && first === last) {
      insert(" ".repeat(4 - (first - begin) % 4));
      return;
    }
    const end = value.indexOf("\n", Math.max(first, last - 1));
    const lines = value.slice(begin, end < 0 ? value.length : end).split("\n");
    const moved = lines.map((line) => (back ? line.replace(/^ {1,4}|^\t/, "") : line && `    ${line}`)).join("\n");
    source.setSelectionRange(begin, end < 0 ? value.length : end);
    insert(moved);
    if (first === last) source.setSelectionRange(Math.max(begin, first - lines[0].length + moved.length), Math.max(begin, first - lines[0].length + moved.length));
    else source.setSelectionRange(begin, begin + moved.length);
  },

  /* Begin a line with the indentation of this one: deeper after a colon, less after a return. */
  newLine() {
    const { value, selectionStart: at } = source;
    const line = value.slice(value.lastIndexOf("\n", at - 1) + 1, at);
    const depth = /^[ \t]*/.exec(line)?.[0] ?? "";
    const code = line.replace(/\s*(#.*)?$/, "");
    const deeper = code.endsWith(":") ? `${depth}    ` : depth;
    insert(`\n${/^\s*(return|pass|break|continue|raise)\b/.test(code) ? depth.slice(4) : deeper}`);
  },
};

/**
 * Put a text at the cursor, so that it can be undone.
 * @param {string} text
 */
function insert(text) {
  const { value, selectionStart: first, selectionEnd: last } = source;
  if (text.split("\n").length < 20) document.execCommand(text ? "insertText" : "delete", false, text);
  else editor.replace(value.slice(0, first) + text + value.slice(last));
}

/* The tabs that show this page: the first writes, a later one offers to take over. They talk by a
   channel, which works without HTTPS and in private windows too. */
const tabs = {
  channel: new BroadcastChannel(KEPT),
  name: `${Date.now()} ${Math.random()}`, // an earlier tab has a smaller one
  writing: false,
  asking: true, // until it is known whether another tab writes
  timer: /** @type {number | undefined} */ (undefined),

  /** @param {string} kind */
  say(kind) {
    this.channel.postMessage({ kind, name: this.name, text: source.value });
  },

  /* Return whether another tab has written since: this one may have stood still, as on a phone. */
  isOld() {
    return this.writing && ![null, editor.saved].includes(kept(KEPT));
  },

  /** @param {{kind: string, name: string, text: string}} message */
  hear({ kind, name, text }) {
    if (this.isOld()) this.read();
    if (kind === "here?" && (this.writing || this.asking && this.name < name)) this.say("here");
    else if (kind === "here" || kind === "here?" && this.asking) this.read();
    else if (kind === "mine" && (this.writing || this.asking)) {
      if (this.writing) this.say("yours");
      this.read();
    } else if (kind === "yours" && this.asking) this.write(text);
  },

  /* Show the text, and keep nothing. */
  read() {
    clearTimeout(this.timer);
    this.writing = this.asking = false;
    source.readOnly = true;
    byId("elsewhere").hidden = false;
    byId("keeps").hidden = true;
  },

  /** @param {string | null} text what the tab before had */
  write(text) {
    clearTimeout(this.timer);
    [this.writing, this.asking] = [true, false];
    source.readOnly = false;
    byId("elsewhere").hidden = true;
    editor.saved = kept(KEPT);
    editor.replace(text ?? source.value);
  },

  /**
   * Become the writing tab, unless another one answers in time.
   * @param {string} kind
   */
  ask(kind) {
    this.asking = source.readOnly = true;
    this.say(kind);
    this.timer = setTimeout(() => this.write(kind === "mine" ? kept(KEPT) : null), 400);
  },
};

(function edit() {
  source.value = kept(KEPT) ?? DATA.stub;
  editor.changed();
  tabs.channel.addEventListener("message", ({ data }) => tabs.hear(data));
  tabs.ask("here?");
  byId("take").addEventListener("click", () => tabs.ask("mine"));
  byId("before").hidden = editor.before === null;
  byId("before").addEventListener("click", () => editor.set(editor.before ?? "", "This is the text before.", editor.opened));
  addEventListener("beforeunload", (event) => editor.unsaved && event.preventDefault());
  source.addEventListener("input", () => {
    const { saved } = editor;
    if (tabs.writing && saved && saved.length > 200 && source.value.length < saved.length / 2) {
      keepText(BEFORE, editor.before = saved);
      byId("before").hidden = false;
    }
    editor.changed();
  });
  for (const name of ["scroll", "select"]) source.addEventListener(name, () => editor.paint());
  document.addEventListener("selectionchange", () => document.activeElement === source && editor.paint());
  new ResizeObserver(() => editor.paint()).observe(source);
  source.addEventListener("blur", () => {
    editor.leaving = false;
  });
  source.addEventListener("keydown", (event) => {
    const plain = !event.ctrlKey && !event.altKey && !event.metaKey && !source.readOnly;
    if (event.key === "Tab" && !editor.leaving && plain) {
      event.preventDefault();
      editor.indent(event.shiftKey);
    } else if (event.key === "Enter" && plain && !event.isComposing) {
      event.preventDefault();
      editor.newLine();
    } else if (/^[yz]$/i.test(event.key) && (event.ctrlKey || event.metaKey) && !event.altKey && !source.readOnly) {
      if (editor.undo(event.shiftKey || /y/i.test(event.key))) event.preventDefault();
    } else if (event.key === "f" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      finder.select();
    }
    if (event.key !== "Shift") editor.leaving = event.key === "Escape";
  });
  finder.addEventListener("input", () => {
    editor.found = [0, 0];
    editor.find(false);
  });
  finder.addEventListener("keydown", (event) => {
    if (event.key === "Enter") editor.find(event.shiftKey);
    else if (event.key === "Escape") source.focus();
  });
  byId("reset").addEventListener("click", () => editor.set(DATA.stub, "This is the stub."));
  byId("download").addEventListener("click", () => save(source.value, "ai.py", "text/x-python"));
  const file = /** @type {HTMLInputElement} */ (byId("file"));
  byId("open").addEventListener("click", () => file.click());
  file.addEventListener("change", async () => {
    const [chosen] = file.files ?? [];
    const data = await chosen?.arrayBuffer();
    file.value = "";
    if (!data) return;
    try {
      if (data.byteLength > MOST_OPENED) throw new RangeError("large");
      editor.set(new TextDecoder("utf-8", { fatal: true }).decode(data).replace(/\r\n?/g, "\n"), `This is ${chosen.name}.`);
    } catch {
      state(`${chosen.name} is not a text in UTF-8 of at most 1 MB`, true);
    }
  });
})();
