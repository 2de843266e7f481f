/* The editor of the playground: a text field with line numbers, kept in this browser. */

const KEPT = `connect4-playground:${new URL(".", location.href).pathname}`;
const MOST_OPENED = 1e6; // bytes of a file
const source = /** @type {HTMLTextAreaElement} */ (byId("source"));

const editor = {
  marked: 0, // the line of the last fault
  leaving: false, // whether Escape was pressed, so that Tab leaves

  /* Number the lines. */
  number() {
    const count = source.value.split("\n").length;
    const numbers = Array.from({ length: count }, (_, index) => `${index + 1}\n`);
    const at = this.marked - 1;
    if (numbers[at]) byId("lines").replaceChildren(numbers.slice(0, at).join(""), make("b", "", `\u25b8${numbers[at]}`), numbers.slice(at + 1).join(""));
    else byId("lines").replaceChildren(numbers.join(""));
    byId("lines").scrollTop = source.scrollTop;
  },

  /**
   * Mark a line; 0 is none.
   * @param {number} line
   */
  mark(line) {
    this.marked = line;
    this.number();
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
    const height = parseFloat(getComputedStyle(source).lineHeight);
    source.scrollTop = Math.max(0, (line - 6) * height);
    this.mark(line);
  },

  /** @param {string} text */
  set(text) {
    source.value = text;
    this.changed();
  },

  changed() {
    this.mark(0);
    try {
      localStorage.setItem(KEPT, source.value);
    } catch { /* a browser that keeps nothing */ }
  },

  /**
   * Move the selected lines by four columns, or put in spaces up to the next fourth column.
   * @param {boolean} back
   */
  indent(back) {
    const { value, selectionStart: first, selectionEnd: last } = source;
    const begin = value.lastIndexOf("\n", first - 1) + 1;
    if (!back && first === last) {
      document.execCommand("insertText", false, " ".repeat(4 - (first - begin) % 4));
      return;
    }
    const end = value.indexOf("\n", Math.max(first, last - 1));
    const lines = value.slice(begin, end < 0 ? value.length : end).split("\n");
    const moved = lines.map((line) => (back ? line.replace(/^ {1,4}|^\t/, "") : line && `    ${line}`)).join("\n");
    source.setSelectionRange(begin, end < 0 ? value.length : end);
    document.execCommand("insertText", false, moved); // unlike a new value, it can be undone
    if (first === last) source.setSelectionRange(Math.max(begin, first - lines[0].length + moved.length), Math.max(begin, first - lines[0].length + moved.length));
    else source.setSelectionRange(begin, begin + moved.length);
  },
};

(function edit() {
  /** @type {string | null} */
  let kept = null;
  try {
    kept = localStorage.getItem(KEPT);
  } catch { /* as at the first time */ }
  source.value = kept ?? DATA.stub;
  editor.number();
  source.addEventListener("input", () => editor.changed());
  source.addEventListener("scroll", () => {
    byId("lines").scrollTop = source.scrollTop;
  });
  source.addEventListener("blur", () => {
    editor.leaving = false;
  });
  source.addEventListener("keydown", (event) => {
    if (event.key === "Tab" && !editor.leaving && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      editor.indent(event.shiftKey);
    }
    if (event.key !== "Shift") editor.leaving = event.key === "Escape";
  });
  byId("reset").addEventListener("click", () => {
    if (confirm("Replace your text by the stub?")) editor.set(DATA.stub);
  });
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
      const text = new TextDecoder("utf-8", { fatal: true }).decode(data).replaceAll("\r\n", "\n");
      if (confirm(`Replace your text by ${chosen.name}?`)) editor.set(text);
    } catch {
      state(`${chosen.name} is not a text in UTF-8 of at most 1 MB`, true);
    }
  });
})();
