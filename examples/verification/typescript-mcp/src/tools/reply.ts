/** What a tool gives back: the value as text and as it is. */
export function reply(value: unknown) {
  return {
    content: [{ type: "text" as const, text: JSON.stringify(value) }],
    structuredContent: { value },
  };
}
