/* What the kernel has in its memory and tells nobody, such as the messages of a connection that was not accepted yet.
 * It is only read, where the kernel describes its types and allows BPF programs to read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* types.c: the kernel's own description of its types. */
struct types;
struct types *read_types(void); /* NULL: there is none */
void free_types(struct types *types);
/* 0: there is none */
uint32_t find_function(const struct types *types, const char *name);
/* The offset of a member in bytes, also of a structure without a name in this one; -1: there is none. Both names are
 * literals. */
long find_member(struct types *types, const char *structure, const char *member);
long size_of_type(const struct types *types, const char *structure);

/* memory.c */
struct kernel;
/* NULL: this kernel does not allow it. Opened at the first call. */
struct kernel *require_kernel(void);
struct types *types_of(const struct kernel *kernel);
bool read_kernel(struct kernel *kernel, uint64_t address, void *bytes, size_t length);
/* A member that is a pointer, or another word of 8 bytes; 0 if it cannot be read. */
uint64_t read_pointer(struct kernel *kernel, uint64_t address, const char *structure, const char *member);
/* A member of up to 8 bytes, as a number. */
bool read_number_at(struct kernel *kernel, uint64_t address, const char *structure, const char *member, size_t size,
                    uint64_t *number);
/* The address of what a descriptor of this thread refers to: the `private_data` of its file; 0: not known. */
uint64_t address_of_private(struct kernel *kernel, int fd);
uint64_t address_of_inode(struct kernel *kernel, int fd);

/* processes.c */
/* The `task_struct` of a process, by its number here; 0: not known. */
uint64_t address_of_process(struct kernel *kernel, pid_t pid);

/* packets.c: what is in a socket. */
uint64_t address_of_socket(struct kernel *kernel, int fd);
/* The bytes of a `struct sk_buff`, for the caller to free; false if they cannot be read. */
bool read_packet(struct kernel *kernel, uint64_t packet, char **bytes, size_t *length);
/* The next one in the queue at HEAD; begin with HEAD. 0: no more, or it cannot be read. */
uint64_t next_packet(struct kernel *kernel, uint64_t head, uint64_t packet);
