"""Loans of readers."""

from agents import RunContextWrapper, function_tool

from desk import client
from desk.session import Session


@function_tool
async def list_loans(ctx: RunContextWrapper[Session]) -> dict:
    """List the open loans of the reader who is talking."""
    return await client.get(f"/readers/{ctx.context.reader_id}/loans")


@function_tool
async def extend_loan(ctx: RunContextWrapper[Session], loan_id: str, idempotency_key: str) -> dict:
    """Extend one loan of the reader by two weeks, once."""
    body = {"reader": ctx.context.reader_id, "key": idempotency_key}
    return await client.post(f"/loans/{loan_id}/extension", body)
