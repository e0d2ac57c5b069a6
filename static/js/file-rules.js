// Detects unsupported files by their names, before they are uploaded.

const OFFICE_97 = "d0cf11e0";

// Returns why a file with this name can't be read, or nothing. If the converter for older Office files is missing, the
// first bytes show whether it is one.
export async function refusal(file, rules) {
  const extension = /[^.]\.([^.]+)$/.exec(file.name)?.[1].toLowerCase();
  if (!extension) return rules.unnamed;
  if (rules.extensions.includes(extension)) return "";
  if (!(extension in rules.missing)) return rules.unsupported.replace("{kind}", `.${extension}`);
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const is97 = [...head].map((byte) => byte.toString(16).padStart(2, "0")).join("") === OFFICE_97;
  return is97 ? rules.missing[extension] : "";
}
