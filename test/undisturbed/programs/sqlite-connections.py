# One process with two connections: as long as one writes, no other may, whenever it was opened. SQLite
# knows a file by device and inode; with another number two writers get in, and the database is lost.
import sqlite3
import sys
import time

from program import end, notice, ready, same, working

mode = sys.argv[1]


def connect():
    connection = sqlite3.connect('data.db', isolation_level=None, timeout=0)
    connection.execute(f'pragma journal_mode={mode}')
    return connection


def is_kept_out(connection):
    try:
        connection.execute('begin immediate')
    except sqlite3.OperationalError as error:
        return 'locked' in str(error)
    connection.execute('rollback')
    return False


writer, other = connect(), connect()
writer.execute('create table rows (n integer primary key, text)')
ready()
count = 0
while working():
    writer.execute('begin immediate')
    for _ in range(10):
        count += 1
        writer.execute('insert into rows values (?, ?)', (count, 'x' * 500))
    # The transaction stays open for a while: snapshots are taken meanwhile.
    for _ in range(8):
        time.sleep(0.1)
        if not is_kept_out(other):
            notice('the second connection got in beside the writer')
        try:
            late = connect() if mode == 'wal' else sqlite3.connect('data.db', isolation_level=None, timeout=0)
            if not is_kept_out(late):
                notice('a new connection got in beside the writer')
            late.close()
        except sqlite3.OperationalError as error:
            notice(f'a new connection: {error}')
    writer.execute('commit')
    same('rows', [(count,)], other.execute('select count(*) from rows').fetchall())
same('integrity', [('ok',)], connect().execute('pragma integrity_check').fetchall())
end()
