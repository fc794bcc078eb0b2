#define _GNU_SOURCE
#include "dispatch.h"

#include <errno.h>

#include "environment.h"
#include "exec-operations.h"
#include "exec-shell.h"
#include "files.h"
#include "identity.h"
#include "port.h"
#include "protocol.h"
#include "stream.h"
#include "terminal.h"
#include "watch.h"

typedef void operation(struct stream *stream, const struct fields *fields);

/* clang-format off: one per line */
static operation *const operations[] = {
    [OP_EXEC_START] = op_exec_start,     [OP_EXEC_ATTACH] = op_exec_attach,
    [OP_EXEC_SIGNAL] = op_exec_signal,   [OP_EXEC_LIST] = op_exec_list,
    [OP_EXEC_FORGET] = op_exec_forget,   [OP_SHELL_LIST] = op_shell_list,
    [OP_SHELL_CLOSE] = op_shell_close,   [OP_TERM_OPEN] = op_term_open,
    [OP_TERM_RESIZE] = op_term_resize,   [OP_TERM_LIST] = op_term_list,
    [OP_TERM_CLOSE] = op_term_close,     [OP_FILE_STAT] = op_file_stat,
    [OP_FILE_LIST] = op_file_list,       [OP_FILE_READ] = op_file_read,
    [OP_FILE_WRITE] = op_file_write,     [OP_FILE_MKDIR] = op_file_mkdir,
    [OP_FILE_RENAME] = op_file_rename,   [OP_FILE_REMOVE] = op_file_remove,
    [OP_FILE_SYMLINK] = op_file_symlink, [OP_FILE_SETATTR] = op_file_setattr,
    [OP_FILE_WATCH] = op_file_watch,     [OP_TREE_WRITE] = op_tree_write,
    [OP_TREE_READ] = op_tree_read,       [OP_PORT_CONNECT] = op_port_connect,
    [OP_IDENTITY] = op_identity,         [OP_INFO] = op_info,
    [OP_QUIESCE] = op_quiesce,           [OP_CONFIGURE] = op_configure,
};
/* clang-format on */

void dispatch(struct stream *stream, const struct fields *fields) {
  int64_t op = fields_int(fields, KEY_OP, 0);
  int64_t count = sizeof operations / sizeof *operations;
  if (op <= 0 || op >= count || !operations[op])
    stream_refuse(stream, ENOSYS, "this agent does not know operation %lld", (long long)op);
  else
    operations[op](stream, fields);
}
