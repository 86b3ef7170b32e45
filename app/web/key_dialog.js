/** Asks for an API key in a dialog. */

import { element } from "./element.js";

/** The key that was entered, or null where that was cancelled; `why` says what was wrong before. */
export function askForKey(why) {
  const input = element("input", {
    type: "password", name: "key", required: true, autocomplete: "off", spellcheck: "false",
    "aria-describedby": "key-help",
  });
  const dialog = element("dialog", { "aria-labelledby": "key-title" }, element("form", {
    method: "dialog",
    onsubmit: (event) => { event.preventDefault(); dialog.close(input.value.trim()); },
  }, [
    element("h2", { id: "key-title" }, "This service asks for a key"),
    why && element("p", { class: "notice error", role: "alert" }, why),
    element("label", { class: "field" }, [element("span", {}, "Key"), input]),
    element("p", { class: "soft", id: "key-help" },
      "It is kept for this tab only, and sent to this service alone."),
    element("div", { class: "row" }, [
      element("button", { class: "primary" }, "Use this key"),
      element("button", { type: "button", onclick: () => dialog.close("") }, "Cancel"),
    ]),
  ]));
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue || null);
    });
  });
}
