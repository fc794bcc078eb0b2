# Connections to a computer outside the environment: one that talks all the time, one that is silent until
# the end, a download and datagrams. The server (../support/far-server.ts) numbers what it hears.
import os
import socket
import sys
import time

from program import end, notice, ready, same, working

address = (os.environ['OUTSIDE'], 7100)
kind = sys.argv[1]


def connect():
    connection = socket.create_connection(address, 300)
    connection.settimeout(300)
    return connection


def ask(stream, text):
    stream.write(text.encode() + b'\n')
    stream.flush()
    return stream.readline().decode().strip()


def talk():
    stream = connect().makefile('rwb')
    number = 0
    ready()
    while working():
        number += 1
        same('the answer', f'{number} hello', ask(stream, 'hello'))
        time.sleep(0.02)


def silent():
    stream = connect().makefile('rwb')
    same('the answer', '1 before', ask(stream, 'before'))
    ready()
    while working():
        time.sleep(0.1)
    same('the answer', '2 after', ask(stream, 'after'))


def download():
    connection = connect()
    connection.sendall(b'download\n')
    at = 0
    ready()
    while working():
        data = connection.recv(20_000)
        if data != bytes((at + i) % 251 for i in range(len(data))) or not data:
            notice(f'byte {at} of the download, or its end')
        at += len(data)


def upload():
    connection = connect()
    connection.sendall(b'upload\n')
    block, sent = bytes(i % 251 for i in range(251)), 0
    ready()
    while working():
        connection.sendall(block * 20)
        sent += len(block) * 20
        time.sleep(0.01)
    connection.shutdown(socket.SHUT_WR)
    same('what the server got', f'{sent} right', connection.makefile().readline().strip())


def datagrams():
    datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagram.settimeout(100)
    datagram.connect(address)
    name = datagram.getsockname()
    number = 0
    ready()
    while working():
        number += 1
        datagram.send(b'%d' % number)
        same('the answer', b'%d' % number, datagram.recv(100))
        same('own address', name, datagram.getsockname())
        time.sleep(0.02)


try:
    {'talk': talk, 'silent': silent, 'download': download, 'upload': upload, 'datagrams': datagrams}[kind]()
except OSError as error:
    notice(f'{type(error).__name__}: {error}')
end()
