/* A cell's network: loopback, and a veth pair to the host. */
#pragma once

#include "spec.h"

/* net.c */
void bring_loopback_up(void);
void create_veth(const struct spec *spec, pid_t peer);
void configure_inside(const struct spec *spec);
void enter_network(pid_t pid);
/* Replaces the veth pair and configures both ends. The cell may be frozen. */
void connect_cell(const struct spec *spec, pid_t pid);
/* The same addresses inside, but nothing at the other end. */
void stand_alone(const struct spec *spec, pid_t pid);
/* Whether sockets can be bound to addresses that the network of this process does not have. */
void set_absent_addresses(bool allowed);
void verb_connect(char **words);
void verb_disconnect(char **words);

/* lock.c: of the network that this process is in. False if the kernel has no means. */
bool lock_network(void);
void unlock_network(void);

/* packets.c: so that connections which are restored in between send packets of the size that they did. */
void lower_mtu(void);
void put_mtu_back(void);

/* connections.c */
void forget_connections(const char *address);

/* give.c */
void verb_tracked_connections(char **words);
void verb_give_connections(char **words);
