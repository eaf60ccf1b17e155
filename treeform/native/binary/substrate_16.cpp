#include "substrate_of.inl"
namespace treeform::binary {
template class SubstrateOf<std::uint16_t, std::int16_t>;
}
