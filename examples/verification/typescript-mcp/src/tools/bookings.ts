import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import type { Calendar } from "../calendar.js";
import { reply } from "./reply.js";

const when = z.string().describe("ISO 8601, with the zone");

export function registerBookings(server: McpServer, calendar: Calendar) {
  server.registerTool(
    "book_room",
    {
      description: "Book one room of the house for a meeting.",
      inputSchema: {
        room: z.string(),
        start: when,
        minutes: z.number().int().min(15).max(480),
      },
      annotations: { readOnlyHint: false, idempotentHint: true },
    },
    async ({ room, start, minutes }) => reply(await calendar.book(room, start, minutes)),
  );

  server.registerTool(
    "show_booking",
    {
      description: "Show one booking with its room and its time.",
      inputSchema: { id: z.string() },
      annotations: { readOnlyHint: true },
    },
    async ({ id }) => reply(await calendar.call(`/bookings/${id}`)),
  );
}
