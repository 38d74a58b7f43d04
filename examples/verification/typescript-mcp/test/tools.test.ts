import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { expect, test } from "vitest";
import { Calendar } from "../src/calendar.js";
import { registerRooms } from "../src/tools/rooms.js";

test("rooms are registered", () => {
  const server = new McpServer({ name: "test", version: "0" });
  expect(() => registerRooms(server, new Calendar("http://localhost"))).not.toThrow();
});
