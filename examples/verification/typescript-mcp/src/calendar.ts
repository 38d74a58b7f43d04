export interface Room {
  id: string;
  seats: number;
}

/** Calendar talks to the booking service of the house. */
export class Calendar {
  constructor(private readonly base: string) {}

  async rooms(seats: number): Promise<Room[]> {
    return this.call(`/rooms?seats=${seats}`);
  }

  async book(room: string, start: string, minutes: number): Promise<{ id: string }> {
    return this.call(`/rooms/${room}/bookings`, { start, minutes });
  }

  async call<T>(path: string, body?: unknown): Promise<T> {
    const reply = await fetch(this.base + path, body ? { method: "POST", body: JSON.stringify(body) } : {});
    if (!reply.ok) throw new Error(`the calendar answers ${reply.status}`);
    return (await reply.json()) as T;
  }
}
