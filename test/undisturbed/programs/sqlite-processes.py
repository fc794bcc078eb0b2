# Three processes write one database: every row that was committed is there, once.
import os
import sqlite3
import sys
import time

from program import end, notice, ready, same, working

mode = sys.argv[1]


def connect():
    connection = sqlite3.connect('data.db', isolation_level=None, timeout=20)
    connection.execute(f'pragma journal_mode={mode}')
    return connection


def write(number, told):
    connection = connect()
    count = 0
    try:
        while not os.path.exists('over'):
            connection.execute('begin immediate')
            total = connection.execute('select total from sum').fetchone()[0]
            connection.execute('insert into rows values (?, ?)', (number, count))
            connection.execute('update sum set total = ?', (total + 1,))
            connection.execute('commit')
            count += 1
            time.sleep(0.02)
    except sqlite3.Error as error:
        os.write(told, f'writer {number}: {error}'.encode())
        os._exit(1)
    os.write(told, b'%d ' % count)
    os._exit(0)


start = connect()
start.execute('create table rows (writer, n)')
start.execute('create table sum (total)')
start.execute('insert into sum values (0)')
start.close()
hears, tells = os.pipe()
children = []
for number in range(3):
    child = os.fork()
    if child == 0:
        write(number, tells)
    children.append(child)
ready()
while working():
    time.sleep(0.1)
open('over', 'w').close()
for child in children:
    if os.waitpid(child, 0)[1] != 0:
        notice('a writer failed')
words = os.read(hears, 4096).decode()
if any(character.isalpha() for character in words):
    notice(words)
else:
    total = sum(int(word) for word in words.split())
    check = connect()
    same('rows', total, check.execute('select count(*) from rows').fetchone()[0])
    same('different rows', total, check.execute('select count(*) from (select distinct * from rows)').fetchone()[0])
    same('sum', total, check.execute('select total from sum').fetchone()[0])
    same('integrity', 'ok', check.execute('pragma integrity_check').fetchone()[0])
end()
