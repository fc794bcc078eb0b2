/* An intrusive doubly linked list. A node that is in no list points at itself. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct list {
  struct list *next, *prev;
};

static inline void *bytes_before(const void *pointer, size_t length) { return (char *)pointer - length; }

#define container_of(pointer, type, member) ((type *)bytes_before(pointer, offsetof(type, member)))

#define LIST_INIT(name) ((struct list){&(name), &(name)})

static inline void list_init(struct list *node) { node->next = node->prev = node; }

static inline bool list_empty(const struct list *head) { return head->next == head; }

static inline void list_append(struct list *head, struct list *node) {
  node->next = head;
  node->prev = head->prev;
  head->prev->next = node;
  head->prev = node;
}

static inline void list_remove(struct list *node) {
  node->prev->next = node->next;
  node->next->prev = node->prev;
  list_init(node);
}

/* Moves all nodes of FROM to the end of TO. */
static inline void list_splice(struct list *to, struct list *from) {
  if (list_empty(from)) return;
  from->next->prev = to->prev;
  to->prev->next = from->next;
  from->prev->next = to;
  to->prev = from->prev;
  list_init(from);
}

#define list_for_each(node, head) for (struct list *node = (head)->next; node != (head); node = node->next)

/* The same where the body may remove and free NODE. */
#define list_for_each_safe(node, head)                                              \
  for (struct list *node = (head)->next, *node##_next = node->next; node != (head); \
       node = node##_next, node##_next = node->next)
