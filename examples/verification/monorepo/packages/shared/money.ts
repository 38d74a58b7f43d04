/** Cents of a currency; never a float. */
export type Money = { cents: number; currency: "EUR" | "SEK" };

export const add = (a: Money, b: Money): Money => ({ ...a, cents: a.cents + b.cents });
