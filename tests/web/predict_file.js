/** node predict_file.js URL FILE TEXT_COLUMNS OUT: what the page does with a file, without a browser. */
import { openAsBlob } from "node:fs";
import { writeFile } from "node:fs/promises";
import { PredictedTable, predict } from "../../app/web/tables/predicted_table.js";
import { openTable } from "../../app/web/tables/table_source.js";

const [address, path, columns, out] = process.argv.slice(2);
const table = await openTable(new File([await openAsBlob(path)], path));
const result = new PredictedTable(table);
const send = async (body, names) => {
  const query = new URLSearchParams({ text_columns: names, on_error: "skip", explain: 2 });
  const response = await fetch(`${address}predict?${query}`, { method: "POST", body });
  if (!response.ok) throw new Error(await response.text());
  return new Uint8Array(await response.arrayBuffer());
};
const places = columns.split("/").map((name) => table.columns.indexOf(name));
await predict(result, places, { send, signal: new AbortController().signal });
await writeFile(out, Buffer.from(await result.blob().arrayBuffer()));
