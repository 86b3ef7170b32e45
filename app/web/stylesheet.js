/** Styles of one view, loaded with its module. */

import { element } from "./element.js";

/** Add a stylesheet to the page once: `await addStylesheet(new URL("x.css", import.meta.url))`. */
export function addStylesheet(address) {
  const link = element("link", { rel: "stylesheet", href: address });
  return new Promise((resolve, reject) => {
    link.addEventListener("load", resolve);
    link.addEventListener("error", () => reject(new Error(`${address} cannot be loaded`)));
    document.head.append(link);
  });
}
