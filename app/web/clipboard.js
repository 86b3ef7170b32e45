/** Buttons that copy a text. */

import { element } from "./element.js";

const SAID_MILLISECONDS = 1600;

/** A button that copies what `text()` gives, and says so for a moment. */
export function copyButton(name, text, attributes = {}) {
  const button = element("button", { type: "button", ...attributes, onclick: async () => {
    await copy(text());
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = name; }, SAID_MILLISECONDS);
  } }, name);
  return button;
}

/** Copy a text; without a secure address browsers have only the old way. */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = element("textarea", { value: text, class: "unseen", "aria-hidden": "true" });
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}
