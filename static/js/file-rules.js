// Which files can't be read here, told by their names before their bytes travel.

const OFFICE_97 = "d0cf11e0";

// Returns why a file so named can't be read, or nothing. Where a program is missing that reads older Office files, its
// first bytes tell whether it is one.
export async function refusal(file, rules) {
  const extension = /[^.]\.([^.]+)$/.exec(file.name)?.[1].toLowerCase();
  if (!extension) return rules.unnamed;
  if (rules.extensions.includes(extension)) return "";
  if (!(extension in rules.missing)) return rules.unsupported.replace("{kind}", `.${extension}`);
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const is97 = [...head].map((byte) => byte.toString(16).padStart(2, "0")).join("") === OFFICE_97;
  return is97 ? rules.missing[extension] : "";
}
