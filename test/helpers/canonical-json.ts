/** Canonical JSON as RFC 8785 has it, of what holds no numbers but whole ones. */
export const canonicalJson = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(canonicalJson).join(',')}]`
    : typeof value === 'object' && value !== null
      ? `{${Object.entries(value)
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([name, inner]) => `${JSON.stringify(name)}:${canonicalJson(inner)}`)
          .join(',')}}`
      : JSON.stringify(value);
