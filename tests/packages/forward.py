#!/usr/bin/env python3
"""The way to a venue, which a signal cuts: forwards TCP from a port of the loopback to another. After SIGUSR1 nothing passes and
nothing is answered, as where a firewall drops it; SIGUSR2 lets it pass again, what had waited first.
usage: forward.py PORT TO_PORT (standard library only)"""

import asyncio
import signal
import sys

PART = 1 << 16


async def pump(reader, writer, is_open):
    """One direction, to its end."""
    try:
        while data := await reader.read(PART):
            await is_open.wait()
            writer.write(data)
            await writer.drain()
        await is_open.wait()
        writer.write_eof()
    except OSError:
        writer.close()


async def main(port, to_port):
    is_open = asyncio.Event()
    is_open.set()

    async def forward(reader, writer):
        await is_open.wait()
        try:
            to_reader, to_writer = await asyncio.open_connection("127.0.0.1", to_port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(pump(reader, to_writer, is_open), pump(to_reader, writer, is_open))
        for each in (writer, to_writer):
            each.close()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, is_open.clear)
    loop.add_signal_handler(signal.SIGUSR2, is_open.set)
    server = await asyncio.start_server(forward, "127.0.0.1", port)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
