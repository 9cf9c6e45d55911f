#include "godwit/cli/app.h"

int main(int argc, char** argv) {
  return godwit::cli::run(argc, argv);
}
