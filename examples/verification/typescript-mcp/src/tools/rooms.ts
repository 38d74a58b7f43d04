import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import type { Calendar } from "../calendar.js";
import { reply } from "./reply.js";

export function registerRooms(server: McpServer, calendar: Calendar) {
  server.registerTool(
    "list_rooms",
    {
      description: "List the rooms that have at least so many seats.",
      inputSchema: { seats: z.number().int().min(1).max(200) },
      annotations: { readOnlyHint: true },
    },
    async ({ seats }) => reply(await calendar.rooms(seats)),
  );
}
