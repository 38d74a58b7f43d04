"""A thin client of the catalogue service."""

import os

import httpx

BASE = os.environ.get("CATALOGUE_URL", "http://localhost:8080")


async def get(path: str, **params: str) -> dict:
    async with httpx.AsyncClient(base_url=BASE, timeout=10) as client:
        reply = await client.get(path, params=params)
        reply.raise_for_status()
        return reply.json()


async def post(path: str, body: dict) -> dict:
    async with httpx.AsyncClient(base_url=BASE, timeout=10) as client:
        reply = await client.post(path, json=body)
        reply.raise_for_status()
        return reply.json()
