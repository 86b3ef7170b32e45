/** A place to drop a file on, or to choose one by keyboard or touch; and files to save. */

import { element } from "../element.js";

/** The node; `onFile(file)` gets what was dropped or chosen, or `onFiles(files)` all of it. */
export function dropZone({ title, hint, onFile, onFiles = ([file]) => onFile(file) }) {
  const take = (files) => { if (files.length) onFiles([...files]); };
  const over = (isOver) => (event) => {
    event.preventDefault();
    zone.classList.toggle("over", isOver);
  };
  const input = element("input", { type: "file", class: "unseen", multiple: !onFile, onchange: () => {
    take([...input.files]);
    input.value = "";
  } });
  const zone = element("label", { class: "drop", ondragover: over(true), ondragleave: over(false), ondrop: (event) => {
    over(false)(event);
    take(event.dataTransfer.files);
  } }, [input, element("strong", {}, title), element("span", { class: "soft" }, hint)]);
  return zone;
}

/** Offer a file to be saved under a name. */
export function download(content, name) {
  const address = URL.createObjectURL(content);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
