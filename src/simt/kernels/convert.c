/* The kernel that converts results, compiled for the simulator. */
#include "production/convert.h"
