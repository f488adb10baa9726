#include "bandana/lab/embedded.h"
