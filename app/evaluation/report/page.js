"use strict";
// The label table: only the rows in view exist, so that tens of thousands scroll smoothly.
(() => {
  const { columns, rows } = JSON.parse(document.getElementById("label-data").textContent);
  const view = document.getElementById("labels");
  const body = view.querySelector("tbody");
  const heads = [...view.querySelectorAll("th")];
  const search = document.getElementById("search");
  const count = document.getElementById("count");
  const HEIGHT = 32, SPARE = 12;
  const folded = rows.map((row) => row[0].toLocaleLowerCase());
  let order = [], sorted = columns.indexOf("support"), rising = false, drawn = "";

  const text = (value, column) =>
    value === null ? "–" : typeof value !== "number" ? value
      : Number.isInteger(value) && column < 6 ? value.toLocaleString("en") : value.toFixed(4);

  function compare(a, b) {
    const x = rows[a][sorted], y = rows[b][sorted];
    if (x === y) return a - b;
    if (x === null) return 1;
    if (y === null) return -1;
    return (x < y ? -1 : 1) * (rising ? 1 : -1);
  }

  function arrange() {
    const wanted = search.value.trim().toLocaleLowerCase();
    order = [];
    folded.forEach((name, i) => { if (name.includes(wanted)) order.push(i); });
    order.sort(compare);
    heads.forEach((head, i) => head.setAttribute("aria-sort",
      i !== sorted ? "none" : rising ? "ascending" : "descending"));
    count.textContent = `${order.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} labels`;
    view.scrollTop = 0;
    drawn = "";
    draw();
  }

  function space(n) {
    const row = document.createElement("tr"), cell = document.createElement("td");
    row.className = "space";
    row.setAttribute("aria-hidden", "true");
    cell.colSpan = heads.filter((head) => head.offsetParent !== null).length;
    cell.style.height = `${n * HEIGHT}px`;
    row.append(cell);
    return row;
  }

  function draw() {
    const first = Math.max(0, Math.floor(view.scrollTop / HEIGHT) - SPARE);
    const last = Math.min(order.length, first + Math.ceil(view.clientHeight / HEIGHT) + 2 * SPARE);
    if (drawn === `${first}-${last}`) return;
    drawn = `${first}-${last}`;
    const shown = order.slice(first, last).map((i) => {
      const row = document.createElement("tr");
      rows[i].forEach((value, column) => {
        const cell = document.createElement("td");
        cell.className = heads[column].className;
        cell.textContent = text(value, column);
        if (column === 0) cell.title = value;
        row.append(cell);
      });
      return row;
    });
    body.replaceChildren(space(first), ...shown, space(order.length - last));
  }

  heads.forEach((head, i) => head.querySelector("button").addEventListener("click", () => {
    rising = i === sorted ? !rising : i === 0;
    sorted = i;
    arrange();
  }));
  search.addEventListener("input", arrange);
  view.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  addEventListener("resize", () => { drawn = ""; draw(); });
  arrange();
})();
