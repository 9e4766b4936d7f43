// Text of an application as it may be drawn: characters that are invisible or that change the
// direction of writing are replaced by their code.
//
// Names in class files may contain any character. A right-to-left override in a name would show the
// rest of a line in another order, and a canvas has no element that isolates it.

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** @param {string} text */
export function visibleText(text) {
  return text.replace(INVISIBLE, (character) => {
    const code = Number(character.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0");
    return code.length > 4 ? `\\u{${code}}` : `\\u${code}`;
  });
}

/**
 * The text, or its beginning with an ellipsis if it has more than `limit` characters.
 * @param {string} text
 * @param {number} limit
 */
export function shortText(text, limit) {
  const visible = visibleText(text);
  if (visible.length <= limit) return visible;
  let end = limit - 1;
  // A pair of surrogates is not divided.
  if (/[\uD800-\uDBFF]/.test(visible[end - 1])) end -= 1;
  return `${visible.slice(0, end)}…`;
}
