#!/usr/bin/env node
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { Calendar } from "./calendar.js";
import { registerBookings } from "./tools/bookings.js";
import { registerRooms } from "./tools/rooms.js";

const server = new McpServer({ name: "room-booking", version: "1.3.0" });
const calendar = new Calendar(process.env.CALENDAR_URL ?? "http://localhost:4000");

registerRooms(server, calendar);
registerBookings(server, calendar);

await server.connect(new StdioServerTransport());
