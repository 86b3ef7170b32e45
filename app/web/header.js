/** The header: the product's name, the views, and the key that is in use. */

import { keepKey, key } from "./api.js";
import { element, replace } from "./element.js";
import { askForKey } from "./key_dialog.js";

/** The header's node, and `select(view)`, which marks the view that is shown. */
export function header(views, main) {
  const links = views.filter((view) => view.navigation).map((view) => [
    view, element("a", { href: `#/${view.path}` }, view.title),
  ]);
  const keyPlace = element("div");
  const node = element("header", { class: "top" }, [
    element("button", { class: "skip", onclick: () => main.focus() }, "Skip to the content"),
    element("div", { class: "top-inner" }, [
      element("a", { class: "brand", href: `#/${views[0].path}` }, [
        element("img", { src: new URL("icon.svg", import.meta.url), alt: "" }),
        element("span", {}, "labelserve"),
      ]),
      element("nav", { "aria-label": "Views" },
        element("ul", {}, links.map(([, link]) => element("li", {}, link)))),
      keyPlace,
    ]),
  ]);
  const select = (chosen) => {
    const root = chosen?.within ?? chosen?.path.split("/")[0];
    for (const [view, link] of links) mark(link, view.path === root);
    replace(keyPlace, key() && keyButton());
  };
  return { node, select };
}

function mark(link, isCurrent) {
  if (isCurrent) link.setAttribute("aria-current", "page");
  else link.removeAttribute("aria-current");
}

function keyButton() {
  return element("button", { class: "quiet", onclick: changeKey }, "Change key");
}

async function changeKey() {
  const given = await askForKey("");
  if (!given) return;
  keepKey(given);
  location.reload();
}
