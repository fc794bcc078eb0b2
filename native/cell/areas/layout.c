#include "areas.h"
#include "kernel.h"

#define ITERATOR "bpf_iter_task_vma"
#define AREA "vm_area_struct"

bool find_layout(struct layout *layout) {
  struct types *types = read_types();
  if (!types) return false;
  long start = find_member(types, AREA, "vm_start"), end = find_member(types, AREA, "vm_end");
  long flags = find_member(types, AREA, "vm_flags");
  uint32_t function = find_function(types, ITERATOR);
  free_types(types);
  *layout = (struct layout){function, (uint32_t)start, (uint32_t)end, (uint32_t)flags};
  return function && start >= 0 && end >= 0 && flags >= 0;
}
