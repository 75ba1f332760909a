// skepd: the transaction server.

#include "server/daemon/run.h"

int main(int argc, char** argv) { return skep::daemon::Run(argc, argv); }
