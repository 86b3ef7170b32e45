/** The page: header and view; shows the view that the address names, and errors as sentences. */

import { askForKeyBy } from "./api.js";
import { element, replace } from "./element.js";
import { header } from "./header.js";
import { askForKey } from "./key_dialog.js";
import { matched } from "./router.js";
import { views } from "./views.js";

const main = element("main", { tabindex: "-1" });
const top = header(views, main);
let leaving = new AbortController();
const start = location.pathname.endsWith("/docs") ? "docs" : views[0].path;
let isFirst = true;

async function show() {
  leaving.abort();
  const { signal } = (leaving = new AbortController());
  const route = matched(views, location.hash) ?? matched(views, start);
  document.title = `${route.view.title} · labelserve`;
  top.select(route.view);
  const node = await rendered(route, signal);
  if (signal.aborted) return;
  replace(main, node);
  top.select(route.view);
  if (!isFirst) main.focus({ preventScroll: true });
  if (!isFirst) scrollTo(0, 0);
  isFirst = false;
}

async function rendered({ view, parameters, query }, signal) {
  let module;
  try {
    module = await view.load();
  } catch {
    return failure("This part of the page could not be loaded: the service has a newer page, or "
      + "cannot be reached.");
  }
  try {
    return await module.render({ parameters, query, signal });
  } catch (error) {
    return signal.aborted ? "" : failure(error.message);
  }
}

function failure(sentence) {
  return element("div", { class: "stack" }, [
    element("p", { class: "notice error", role: "alert" }, sentence),
    element("div", {}, element("button", { onclick: () => location.reload() }, "Reload the page")),
  ]);
}

askForKeyBy(askForKey);
document.body.append(top.node, main);
addEventListener("hashchange", show);
show();
