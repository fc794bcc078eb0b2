#include "netfilter.h"

#include <arpa/inet.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>

#include "report.h"

static void *append(struct batch *batch, const void *data, size_t length) {
  if (NLMSG_ALIGN(batch->length) + length > sizeof batch->bytes) die_because("a netfilter request is too long");
  char *at = batch->bytes + NLMSG_ALIGN(batch->length);
  if (data) memcpy(at, data, length);
  batch->length = NLMSG_ALIGN(batch->length) + (uint32_t)length;
  return at;
}

struct nlmsghdr *begin(struct batch *batch, unsigned type, unsigned flags, unsigned family, unsigned subsystem) {
  struct {
    struct nlmsghdr header;
    struct nfgenmsg family;
  } start = {
      .header = {.nlmsg_type = (unsigned short)type, .nlmsg_flags = (unsigned short)(NLM_F_REQUEST | flags)},
      .family = {.nfgen_family = (unsigned char)family, .res_id = htons((uint16_t)subsystem)},
  };
  return append(batch, &start, sizeof start);
}

void finish(struct batch *batch, struct nlmsghdr *message) {
  message->nlmsg_len = (uint32_t)(batch->bytes + batch->length - (char *)message);
}

struct nlattr *add(struct batch *batch, unsigned type, const void *data, size_t length) {
  struct nlattr header = {.nla_type = (unsigned short)type, .nla_len = (unsigned short)(NLA_HDRLEN + length)};
  struct nlattr *at = append(batch, &header, sizeof header);
  if (length) append(batch, data, length);
  return at;
}

void add_number(struct batch *batch, unsigned type, uint32_t number) {
  uint32_t ordered = htonl(number);
  add(batch, type, &ordered, sizeof ordered);
}

struct nlattr *nest(struct batch *batch, unsigned type) {
  return add(batch, type | NLA_F_NESTED, NULL, 0);
}

void end_nest(struct batch *batch, struct nlattr *nest) {
  nest->nla_len = (unsigned short)(batch->bytes + batch->length - (char *)nest);
}

const struct nlattr *find_attribute(const char *at, size_t length, unsigned type) {
  while (length >= sizeof(struct nlattr)) {
    const struct nlattr *attribute = (const void *)at;
    size_t size = attribute->nla_len;
    if (size < sizeof *attribute || size > length) return NULL;
    if ((attribute->nla_type & NLA_TYPE_MASK) == type) return attribute;
    size_t step = NLA_ALIGN(size);
    if (step > length) return NULL;
    at += step;
    length -= step;
  }
  return NULL;
}

const struct nlattr *find_nested(const struct nlattr *in, unsigned type) {
  return in ? find_attribute((const char *)in + NLA_HDRLEN, in->nla_len - (size_t)NLA_HDRLEN, type) : NULL;
}

const struct nlattr *find_in_message(const struct nlmsghdr *message, unsigned type) {
  size_t head = NLMSG_LENGTH(sizeof(struct nfgenmsg));
  if (message->nlmsg_len < head) return NULL;
  return find_attribute((const char *)message + head, message->nlmsg_len - head, type);
}

int read_attribute(const struct nlattr *attribute, void *value, size_t size) {
  if (!attribute || attribute->nla_len != NLA_HDRLEN + size) return 0;
  memcpy(value, (const char *)attribute + NLA_HDRLEN, size);
  return 1;
}
