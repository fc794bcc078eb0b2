/* Names of what the watcher makes and attacks look for. */
#pragma once

#define TARGET_KEY 0x46504154
#define TARGET_QUEUE "/forkpoint-attack"
#define TARGET_MARK "forkpoint-attack-mark"
