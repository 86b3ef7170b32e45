/** Compression, byte order marks and UTF-16: every file reaches the readers as plain UTF-8. */

const SAMPLE = 4096;
const MARKS = { "utf-8": [0xef, 0xbb, 0xbf], "utf-16le": [0xff, 0xfe], "utf-16be": [0xfe, 0xff] };
const WORKBOOKS = [[0x50, 0x4b, 3, 4], [0xd0, 0xcf, 0x11, 0xe0]];
const SAVE_AS_CSV = "This is an Excel workbook. In Excel choose “Save as”, then “CSV UTF-8”, and drop that file.";

/** The encoding of a file by its first bytes, and the length of its byte order mark. */
export function encodingOf(head) {
  for (const [name, mark] of Object.entries(MARKS)) if (startsWith(head, mark)) return { name, mark: mark.length };
  const zeros = [0, 0];
  head.subarray(0, SAMPLE).forEach((byte, place) => { zeros[place % 2] += byte === 0; });
  const [high, low] = zeros, enough = Math.min(head.length, SAMPLE) / 4;
  if (low > enough && !high) return { name: "utf-16le", mark: 0 };
  return { name: high > enough && !low ? "utf-16be" : "utf-8", mark: 0 };
}

/** The first bytes of a file, decompressed; a workbook is refused. */
export async function headOf(file) {
  for await (const piece of inflated(file)) {
    if (WORKBOOKS.some((magic) => startsWith(piece, magic))) throw new Error(SAVE_AS_CSV);
    return piece.subarray(0, 16 * SAMPLE);
  }
  return new Uint8Array();
}

/** The bytes of a file in UTF-8, piece by piece, without a byte order mark. */
export async function* utf8Pieces(file) {
  const { name, mark } = encodingOf(await headOf(file));
  const decoder = name === "utf-8" ? null : new TextDecoder(name, { fatal: true, ignoreBOM: true });
  const encoder = new TextEncoder();
  let left = mark;
  for await (const piece of inflated(file)) {
    const bytes = piece.subarray(left);
    left = Math.max(0, left - piece.length);
    yield decoder ? encoder.encode(decoder.decode(bytes, { stream: true })) : bytes;
  }
  if (decoder) yield encoder.encode(decoder.decode());
}

/** The bytes of a file as they are without gzip. */
export async function* inflated(file) {
  const magic = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const isZipped = startsWith(magic, [0x1f, 0x8b]);
  const reader = (isZipped ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream()).getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    reader.cancel().catch(() => {});
  }
}

const startsWith = (bytes, magic) => magic.every((value, place) => bytes[place] === value);
