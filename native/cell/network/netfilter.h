/* Messages to the kernel's packet filter and its connection tracking. */
#pragma once

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

/* Messages that the kernel carries out together. */
struct batch {
  char bytes[2048];
  uint32_t length;
};

/* FLAGS besides NLM_F_REQUEST. What is added until `finish` belongs to the message. */
struct nlmsghdr *begin(struct batch *batch, unsigned type, unsigned flags, unsigned family, unsigned subsystem);
void finish(struct batch *batch, struct nlmsghdr *message);
struct nlattr *add(struct batch *batch, unsigned type, const void *data, size_t length);
void add_number(struct batch *batch, unsigned type, uint32_t number);
struct nlattr *nest(struct batch *batch, unsigned type);
void end_nest(struct batch *batch, struct nlattr *nest);

/* The first attribute of this type in LENGTH bytes of attributes, or NULL. */
const struct nlattr *find_attribute(const char *at, size_t length, unsigned type);
/* The same in an attribute, which may be NULL. */
const struct nlattr *find_nested(const struct nlattr *in, unsigned type);
/* The same in a message. */
const struct nlattr *find_in_message(const struct nlmsghdr *message, unsigned type);
/* Copies the value of an attribute, if it has exactly this size. */
int read_attribute(const struct nlattr *attribute, void *value, size_t size);
