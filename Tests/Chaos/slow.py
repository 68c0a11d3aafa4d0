"""The network between one gateway and the brokers, which becomes slow when it is told to: a relay for each broker, on a port that stays."""

import asyncio
import socket
import threading
import time


class SlowNetwork:
    """What comes is held for `delay` seconds, each way, and goes on in order."""

    #: Chunks that are held in a connection at most; then no more are read.
    held_max = 1000

    def __init__(self, count: int) -> None:
        self.delay = 0.0
        self.listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]

    @property
    def ports(self) -> list[int]:
        return [listener.getsockname()[1] for listener in self.listeners]

    def start(self, brokers: list[int]) -> None:
        """Relays to these ports from now on, for as long as this process lives: gateways come before the load, and end after it."""
        threading.Thread(target=asyncio.run, args=[self.run(brokers)], daemon=True).start()

    async def run(self, brokers: list[int]) -> None:
        for listener, port in zip(self.listeners, brokers):
            await asyncio.start_server(lambda *gateway, port=port: self.relay(*gateway, port), sock=listener)
        await asyncio.Event().wait()

    async def relay(self, from_gateway: asyncio.StreamReader, to_gateway: asyncio.StreamWriter, port: int) -> None:
        """If the broker is away, or one side ends, both have ended."""
        writers = [to_gateway]
        try:
            from_broker, to_broker = await asyncio.open_connection("127.0.0.1", port)
            writers.append(to_broker)
            async with asyncio.TaskGroup() as tasks:
                for reader, writer in ((from_gateway, to_broker), (from_broker, to_gateway)):
                    held = asyncio.Queue(self.held_max)
                    tasks.create_task(self.take(reader, held))
                    tasks.create_task(self.give(held, writer))
        except* (OSError, EOFError):
            pass
        finally:
            for writer in writers:
                writer.close()

    async def take(self, reader: asyncio.StreamReader, held: asyncio.Queue) -> None:
        chunk = None
        while chunk != b"":
            chunk = await reader.read(1 << 16)
            await held.put((time.monotonic() + self.delay, chunk))

    async def give(self, held: asyncio.Queue, writer: asyncio.StreamWriter) -> None:
        while True:
            due, chunk = await held.get()
            await asyncio.sleep(due - time.monotonic())
            if not chunk:
                raise EOFError
            writer.write(chunk)
            await writer.drain()
